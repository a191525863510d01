"""EKS managed node groups, beside HyperPod's nodes or without any."""
