"""What the HyperPod API refuses before it acts."""
