"""AWS KMS: keys that a configuration names."""
