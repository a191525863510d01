"""What only clusters with continuous provisioning have."""

from collections.abc import Iterator

from hyperpod_cdk.checks.finding import Finding, Path, error
from hyperpod_cdk.checks.inputs import Deployment, Group


def continuous_provisioning(deployment: Deployment) -> Iterator[Finding]:
    """Find features of continuous provisioning on a cluster without it.

    https://docs.aws.amazon.com/sagemaker/latest/dg/sagemaker-hyperpod-scaling-eks.html
    https://docs.aws.amazon.com/sagemaker/latest/dg/sagemaker-hyperpod-spot.html
    https://docs.aws.amazon.com/sagemaker/latest/dg/smcluster-cmk.html
    """
    if deployment.continuous:
        return
    needs = (
        "needs cluster.node_provisioning_mode: Continuous, which is set when the cluster is created"
    )
    for group in deployment.groups:
        for path, value in _uses(group):
            yield error(path, value, needs)
    if deployment.auto_scaling is not None:
        yield error(("cluster", "auto_scaling"), deployment.auto_scaling, needs)


def _uses(group: Group) -> Iterator[tuple[Path, object]]:
    if group.min_instance_count is not None:
        yield group.at("min_instance_count"), group.min_instance_count
    if group.instance_types:
        yield group.at("instance_types"), list(group.instance_types)
    if group.spot:
        yield group.at("capacity"), group.capacity
    for index, volume in enumerate(group.ebs_volumes):
        if volume.kms_key_id is not None:
            yield group.at("ebs_volumes", index, "kms_key_id"), volume.kms_key_id
