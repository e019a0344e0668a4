"""Lets these tests find the histories that were judged by hand."""

import sys
from pathlib import Path

sys.path.insert(0, str(Path(__file__).parents[2] / "histories"))
