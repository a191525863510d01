"""Data files that the code reads, from public packages."""
