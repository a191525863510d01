"""What AWS publishes of resource types and of IAM actions; it imports nothing of the project."""
