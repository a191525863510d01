"""The customer managed KMS key that encrypts a deployment's data."""
