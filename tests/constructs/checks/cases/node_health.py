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
    Cases,
    config,
    group,
)


def _health(**changes: Any) -> dict[str, Any]:
    script = str(CONFIG_FOLDER / "examples" / "node-health" / "gpus.sh")
    return {"node_health": {"script": script, **changes}}


_IMAGE = f"111122223333.dkr.ecr.us-west-2.amazonaws.com/check@sha256:{'a' * 64}"
_EC2_GPUS = {"name": "gpu", "instance_types": ["g5.12xlarge"], "desired_size": 1}
_LABELS_ONLY = {"node_recovery": "None"}

CASES: Cases = {}
CASES[node_health_types] = {
    "none": config(group(CPU)),
    "GPUs": config(group(CPU), group(GPU, index=1), **_health()),
    "Trainium": config(group(TRAINIUM), **_health()),
    "undescribed type": config(group(UNDESCRIBED), **_health()),
    "no accelerators": (config(group(CPU), **_health()), (ERROR, "node_health")),
    "of EC2 alone": (
        config(group(CPU), node_groups=[_EC2_GPUS], **_health()),
        (ERROR, "node_health"),
    ),
}
CASES[node_health_action] = {
    "HyperPod acts": config(group(GPU), **_health(action="reboot")),
    "dry run": config(group(GPU), of_cluster=_LABELS_ONLY, **_health()),
    "none": config(group(GPU), of_cluster=_LABELS_ONLY),
    "HyperPod does not act": (
        config(group(GPU), of_cluster=_LABELS_ONLY, **_health(action="replace")),
        (WARNING, "node_health.action"),
    ),
}
CASES[node_health_image] = {
    "closed without": config(group(GPU), **CLOSED),
    "open": config(group(GPU), **_health()),
    "copied": config(group(GPU), **CLOSED, **_health(image=_IMAGE)),
    "recurring, default image": (
        config(group(GPU), **CLOSED, **_health(image=_IMAGE, recurring={"schedule": "0 3 * * *"})),
        (WARNING, "node_health.recurring.image"),
    ),
    "recurring, own image": config(
        group(GPU),
        **CLOSED,
        **_health(image=_IMAGE, recurring={"schedule": "0 3 * * *", "image": _IMAGE}),
    ),
    "own image that does not resolve": (
        config(
            group(GPU),
            network={"allowed_domains": ["nvcr.io", "*.docker.io", "public.ecr.aws"]},
            **_health(image=f"registry.example.com/check@sha256:{'a' * 64}"),
        ),
        (WARNING, "node_health.image"),
    ),
    "default image beside a closed network": (
        config(group(GPU), **CLOSED, **_health()),
        (WARNING, "node_health.image"),
    ),
}
