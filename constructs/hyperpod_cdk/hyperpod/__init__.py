"""The HyperPod cluster, its instance groups and roles."""
