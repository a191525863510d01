"""What is looked at of a VPC that exists, one subject a file."""
