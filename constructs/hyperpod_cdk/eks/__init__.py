"""The EKS control plane."""
