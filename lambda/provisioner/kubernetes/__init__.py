"""kubectl and the Kubernetes API of an EKS cluster."""
