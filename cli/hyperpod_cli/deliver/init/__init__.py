"""Writes a configuration from a few answers: `make init`."""
