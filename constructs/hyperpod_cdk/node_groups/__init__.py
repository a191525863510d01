"""EKS managed node groups, next to HyperPod's nodes or without them."""
