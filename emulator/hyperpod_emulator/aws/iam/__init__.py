"""IAM: what a caller or a role may do, and the managed policies that MiniStack lacks."""
