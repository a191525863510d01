"""What is deployed, read into one file that is looked at, sent, and rehearsed on."""

from hyperpod_cli.inspect import permissions

CALLS = (
    *permissions.READS,
    "cloudformation:DescribeStacks",
    "cloudformation:GetTemplate",
    "cloudformation:ListStackResources",
    "eks:DescribeAddon",
    "eks:DescribeCluster",
    "eks:DescribeNodegroup",
    "eks:ListAddons",
    "eks:ListNodegroups",
    "fsx:DescribeFileSystems",
    "s3:GetObject",
    "sagemaker:DescribeCluster",
    "sagemaker:ListClusterNodes",
    "sts:GetCallerIdentity",
)
"""The IAM actions that it takes."""
IN_KUBERNETES = "list nodes, pods, persistentvolumeclaims and secrets (of Helm)"
"""What it reads in the EKS cluster."""
