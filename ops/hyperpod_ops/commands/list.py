"""`hyperpod-ops list`."""

from hyperpod_ops.options import AsJson, Region


def list_clusters(*, region: Region = None, as_json: AsJson = False) -> None:
    """List the HyperPod clusters that this project deployed."""
    from hyperpod_ops.clusters.listing import own_clusters
    from hyperpod_ops.session import aws_session
    from hyperpod_ops.tables import shown

    found = own_clusters(aws_session(region=region).client("sagemaker"))
    shown(found, as_json=as_json, empty="No cluster of a deployment is in this region.")
