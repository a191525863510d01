"""A HyperPod cluster that comes to a deployment, or goes from it."""

from collections.abc import Mapping
from typing import Any

from tests.support.assembly import merged
from tests.support.configs import MINIMUM
from tests.support.failure import CONTROL_PLANE, Failure, the_cluster
from tests.support.partial_deployment import Deployment

_GROUPS: Mapping[str, Any] = {
    "node_groups": [{"name": "system", "instance_types": ["c5.2xlarge"], "desired_size": 1}]
}
_WITHOUT: Mapping[str, Any] = merged(MINIMUM, {"cluster": None, **_GROUPS})


def _with_cluster(deployment: Deployment) -> None:
    the_cluster(deployment.of(MINIMUM))


FAILURES = (
    Failure(
        validator="nodes-stack",
        name="a cluster that goes before its stack",
        document=_WITHOUT,
        before=_with_cluster,
        found="cluster: null leaves the stack ml-hyperpod without what it takes from the platform",
        deploy=CONTROL_PLANE,
        said=r"ExecutionRole\w+ cannot be deleted as it is in use by ml-hyperpod",
    ),
)
