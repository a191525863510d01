"""Rehearse the whole deployment on this machine, against a local AWS."""

from pathlib import Path

REPOSITORY = Path(__file__).resolve().parents[2]
"""The checkout that is rehearsed."""
