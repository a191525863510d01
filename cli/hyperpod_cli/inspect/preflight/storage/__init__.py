"""What would fail of file systems."""
