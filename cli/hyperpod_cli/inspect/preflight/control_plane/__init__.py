"""What would fail of the EKS cluster."""
