"""The VPC, its subnets and the security group."""
