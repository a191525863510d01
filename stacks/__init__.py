"""One CloudFormation stack a file; composition only."""
