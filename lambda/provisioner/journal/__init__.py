"""What the provisioner notes of each resource, in a DynamoDB table."""
