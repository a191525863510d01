"""Rules on the lifecycle scripts that nodes run."""

from typing import Any

from hyperpod_cdk.checks.stop_nodes_without_lustre import stop_nodes_without_lustre
from tests.support.checks.cases import WARNING, config, group, one

_OWN: dict[str, Any] = {
    "lifecycle": {"source_s3_uri": "s3://sagemaker-mine/scripts", "on_create": "on_create.sh"}
}
_NONE: dict[str, Any] = {"lifecycle": None}
_STOPPED = {"stop_nodes_without_lustre": True}
_KEY = "storage.stop_nodes_without_lustre"

CASES = [
    one(stop_nodes_without_lustre, "project's scripts", config(group(), storage=_STOPPED)),
    one(
        stop_nodes_without_lustre,
        "project's scripts in one group",
        config(group(**_OWN), group(index=1), storage=_STOPPED),
    ),
    one(stop_nodes_without_lustre, "not to be stopped", config(group(**_OWN))),
    one(stop_nodes_without_lustre, "no storage", config(group(**_OWN), storage=None)),
    one(
        stop_nodes_without_lustre,
        "scripts of one's own, or none, everywhere",
        config(group(**_OWN), group(index=1, **_NONE), storage=_STOPPED),
        (WARNING, _KEY, "has no effect: the project's lifecycle scripts stop the node"),
    ),
]
