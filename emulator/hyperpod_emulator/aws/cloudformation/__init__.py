"""CloudFormation: how a resource type is added, and how a creation is rolled back."""
