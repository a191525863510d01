"""`hyperpod-ops list`."""

from hyperpod_ops.options import AsJson, Region


def list_clusters(*, region: Region = None, as_json: AsJson = False) -> None:
    """List the HyperPod clusters that CloudFormation stacks made."""
    from hyperpod_ops.clusters.listing import own_clusters
    from hyperpod_ops.session import aws_session
    from hyperpod_ops.tables import shown

    found = own_clusters(aws_session(region=region).client("sagemaker"))
    nothing = "No cluster of a stack that you may look at is in this region."
    shown(found, as_json=as_json, empty=nothing)
