"""Configurations in which every two values of switches meet: `python -m tools.pairs`."""
