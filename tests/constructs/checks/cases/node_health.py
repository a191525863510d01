"""Rules on the user's health check."""

from typing import Any

from hyperpod_cdk.checks.eks.node_health_action import node_health_action
from hyperpod_cdk.checks.eks.node_health_image import node_health_image
from hyperpod_cdk.checks.eks.node_health_types import node_health_types
from tests.support.configs import CLOSED, CONFIG_FOLDER
from tests.support.rule_cases import (
    CPU,
    ERROR,
    GPU,
    TRAINIUM,
    UNDESCRIBED,
    WARNING,
    config,
    group,
    one,
)


def _health(**changes: Any) -> dict[str, Any]:
    script = str(CONFIG_FOLDER / "examples" / "node-health" / "gpus.sh")
    return {"node_health": {"script": script, **changes}}


_IMAGE = f"111122223333.dkr.ecr.us-west-2.amazonaws.com/check@sha256:{'a' * 64}"
_LABELS_ONLY = {"node_recovery": "None"}

CASES = [
    one(node_health_types, "none", config(group(CPU))),
    one(node_health_types, "GPUs", config(group(CPU), group(GPU, index=1), **_health())),
    one(node_health_types, "Trainium", config(group(TRAINIUM), **_health())),
    one(node_health_types, "undescribed type", config(group(UNDESCRIBED), **_health())),
    one(
        node_health_types,
        "no accelerators",
        config(group(CPU), **_health()),
        (ERROR, "node_health", "runs on no node"),
    ),
    one(
        node_health_action,
        "HyperPod acts",
        config(group(GPU), **_health(action="reboot")),
    ),
    one(
        node_health_action,
        "dry run",
        config(group(GPU), of_cluster=_LABELS_ONLY, **_health()),
    ),
    one(node_health_action, "none", config(group(GPU), of_cluster=_LABELS_ONLY)),
    one(
        node_health_action,
        "HyperPod does not act",
        config(group(GPU), of_cluster=_LABELS_ONLY, **_health(action="replace")),
        (WARNING, "node_health.action", "only labels nodes"),
    ),
    one(node_health_image, "closed without", config(group(GPU), **CLOSED)),
    one(node_health_image, "open", config(group(GPU), **_health())),
    one(node_health_image, "copied", config(group(GPU), **CLOSED, **_health(image=_IMAGE))),
    one(
        node_health_image,
        "recurring, default image",
        config(group(GPU), **CLOSED, **_health(image=_IMAGE, recurring={"schedule": "0 3 * * *"})),
        (WARNING, "node_health.recurring.image", "copy the image of public.ecr.aws/hpc-cloud"),
    ),
    one(
        node_health_image,
        "recurring, own image",
        config(
            group(GPU),
            **CLOSED,
            **_health(image=_IMAGE, recurring={"schedule": "0 3 * * *", "image": _IMAGE}),
        ),
    ),
    one(
        node_health_image,
        "default image beside a closed network",
        config(group(GPU), **CLOSED, **_health()),
        (WARNING, "node_health.image", "in a public registry"),
    ),
]
