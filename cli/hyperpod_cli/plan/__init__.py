"""What a change of a configuration does to what is deployed, made once for all who show it."""

from hyperpod_cli.inspect import permissions

READS = (
    "cloudformation:DescribeStacks",
    "cloudformation:GetTemplate",
    "eks:DescribeAddon",
    "eks:DescribeCluster",
    "eks:DescribeNodegroup",
    *permissions.READS,
    "sagemaker:DescribeCluster",
    "sagemaker:ListClusterNodes",
)
"""The IAM actions of making a plan; here, so that commands register without importing it."""
