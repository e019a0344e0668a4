"""What this project simulates: a shop."""
