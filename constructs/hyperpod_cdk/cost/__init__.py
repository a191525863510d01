"""What a deployment costs."""
