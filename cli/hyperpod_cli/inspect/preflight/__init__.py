"""What would fail in the middle of a deployment, found before it; read-only."""
