"""What must hold after a deployment, and what is to be seen of it."""
