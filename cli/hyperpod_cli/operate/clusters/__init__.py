"""HyperPod clusters: which there are."""
