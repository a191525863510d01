"""GPUs of running nodes that would be partitioned in another way."""

from tests.support.failure import Failure, the_cluster
from tests.support.partial_deployment import Deployment, example

_WHOLE = {"mig_profile": None}


def _nodes_of_whole_gpus(deployment: Deployment) -> None:
    groups = [{**group, **_WHOLE} for group in deployment.document["cluster"]["instance_groups"]]
    the_cluster(deployment.changed({"cluster": {"instance_groups": groups}}))


def _what_nodes_alone_say(_deployment: Deployment) -> None:
    """HyperPod takes the label, and partitioning fails later, on the node."""


FAILURES = (
    Failure(
        validator="mig-profiles",
        name="nodes of whole GPUs",
        document=example("partitions"),
        before=_nodes_of_whole_gpus,
        found=r"cluster.instance_groups\[0\] \(gpu\).mig_profile: 'all-1g.5gb' partitions the GPUs"
        r" of 1 running nodes anew \(now: whole\), which fails while a pod has one: first `kubectl",
        deploy=_what_nodes_alone_say,
        said=None,
    ),
)
