"""What a deployment shows of itself, and whom it tells."""
