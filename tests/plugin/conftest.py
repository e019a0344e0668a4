"""Keeps pytest out of the project that tests here copy elsewhere."""

collect_ignore = ["foreign"]
