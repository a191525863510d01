"""The components of the HyperPod dependencies."""
