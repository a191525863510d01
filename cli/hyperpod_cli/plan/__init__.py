"""What a change of a configuration does to what is deployed, made once for all who show it."""

READS = (
    "cloudformation:DescribeStacks",
    "cloudformation:GetTemplate",
    "eks:DescribeAddon",
    "eks:DescribeCluster",
    "eks:DescribeNodegroup",
    "iam:GetPolicy",
    "iam:GetPolicyVersion",
    "iam:GetRole",
    "iam:GetRolePolicy",
    "iam:ListAttachedRolePolicies",
    "iam:ListRolePolicies",
    "sagemaker:DescribeCluster",
    "sagemaker:ListClusterNodes",
)
"""The IAM actions of making a plan; here, so that commands register without importing it."""
