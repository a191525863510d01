"""`hyperpod-cdk deploy`: what will change, its progress, and what came of it."""

ANNOUNCES = (
    "cloudformation:DescribeStacks",
    "cloudformation:GetTemplate",
    "eks:DescribeAddon",
    "eks:DescribeCluster",
    "eks:DescribeNodegroup",
    "sagemaker:DescribeCluster",
    "sagemaker:ListClusterNodes",
)
"""The IAM actions of an announcement; here, so that commands register without importing it."""
