"""The managed policy of nodes, apart from what needs the CDK, which takes a second to import."""

MANAGED_POLICY = "AmazonSageMakerClusterInstanceRolePolicy"
"""The policy that HyperPod documents as the nodes'."""
