"""What the public HyperPod workshop prepares by hand, taken from a deployment."""
