"""Lets these tests find the makers of histories and of corruptions."""

import sys
from pathlib import Path

HERE = Path(__file__).parent
sys.path[:0] = [str(HERE), str(HERE.parent / "histories"), str(HERE.parent / "benchmarks")]
