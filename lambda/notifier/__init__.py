"""Tells of what happens to a HyperPod cluster, each fault once, with its cause."""
