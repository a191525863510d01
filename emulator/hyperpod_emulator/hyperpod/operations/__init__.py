"""The operations of the HyperPod API, one subject a file."""
