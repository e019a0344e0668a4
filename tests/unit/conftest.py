"""Lets the tests find the histories that were judged by hand, and the makers of events."""

import sys
from pathlib import Path

sys.path.insert(0, str(Path(__file__).parents[1] / "histories"))
