"""The EKS cluster that exists."""
