"""Images of the HyperPod dependencies, and the registry that they come from."""
