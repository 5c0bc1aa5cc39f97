"""The folders that tests read."""

from pathlib import Path

ROOT = Path(__file__).parents[1]
FIXTURES = Path(__file__).parent / "fixtures"
PROGRAMS = Path(__file__).parent
