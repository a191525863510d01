"""A cluster that goes from a deployment, GPUs of running nodes, and containers to begin with."""

from collections.abc import Mapping
from typing import Any

from tests.support.assembly import merged
from tests.support.configs import MINIMUM
from tests.support.failure import CONTROL_PLANE, Failure, creating, the_cluster
from tests.support.partial_deployment import Deployment, example

_GROUPS: Mapping[str, Any] = {
    "node_groups": [{"name": "system", "instance_types": ["c5.2xlarge"], "desired_size": 1}]
}
_WITHOUT: Mapping[str, Any] = merged(MINIMUM, {"cluster": None, **_GROUPS})


def _with_cluster(deployment: Deployment) -> None:
    the_cluster(deployment.of(MINIMUM))


_WHOLE = {"mig_profile": None}


def _nodes_of_whole_gpus(deployment: Deployment) -> None:
    groups = [{**group, **_WHOLE} for group in deployment.document["cluster"]["instance_groups"]]
    the_cluster(deployment.changed({"cluster": {"instance_groups": groups}}))


def _what_nodes_alone_say(_deployment: Deployment) -> None:
    """HyperPod takes the label, and partitioning fails later, on the node."""


_DOCUMENT: Mapping[str, Any] = example("workloads")
_REPOSITORY = creating("workloads", "AWS::ECR::Repository")


def _without_the_tag(deployment: Deployment) -> None:
    ecr = deployment.client("ecr")
    for name in ("pytorch-training", "pytorch-training-neuronx"):
        ecr.create_repository(repositoryName=name)


FAILURES = (
    Failure(
        case="nodes-stack: a cluster that goes before its stack",
        document=_WITHOUT,
        before=_with_cluster,
        deploy=CONTROL_PLANE,
        said=r"ExecutionRole\w+ cannot be deleted as it is in use by ml-hyperpod",
    ),
    Failure(
        case="mig-profiles: nodes of whole GPUs",
        document=example("partitions"),
        before=_nodes_of_whole_gpus,
        deploy=_what_nodes_alone_say,
    ),
    Failure(case="base-images: no such repository", document=_DOCUMENT, deploy=_REPOSITORY),
    Failure(
        case="base-images: no such tag",
        document=_DOCUMENT,
        before=_without_the_tag,
        deploy=_REPOSITORY,
    ),
)
