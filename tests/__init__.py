"""The tests, in folders that mirror the rooms of the package."""

from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent  # of the repository
