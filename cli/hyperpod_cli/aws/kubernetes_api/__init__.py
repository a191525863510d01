"""The Kubernetes API of the EKS cluster."""
