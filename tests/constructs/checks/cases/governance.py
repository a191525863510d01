"""Rules on task governance."""

from typing import Any

from hyperpod_cdk.checks.eks.claim_namespaces import claim_namespaces
from hyperpod_cdk.checks.eks.governance_priorities import governance_priorities
from hyperpod_cdk.checks.eks.governance_quotas import governance_quotas
from hyperpod_cdk.checks.eks.governance_version import governance_version
from tests.support.rule_cases import CPU, ERROR, GPU, UNDESCRIBED, WARNING, Cases, config, group

_GPU_NODES = (group(GPU, instance_count=2), group(CPU, index=1))
_TEAMS = "teams"


def _governed(*quotas: dict[str, Any], **changes: Any) -> dict[str, Any]:
    teams = [{"name": f"team-{index}", "quota": [quota]} for index, quota in enumerate(quotas)]
    return {"teams": teams, "governance": changes}


def _of(instance_type: str = GPU, **quota: Any) -> dict[str, Any]:
    return {"instance_type": instance_type, **quota}


_NODE = _of(nodes=1)

_TEAM = "hyperpod-ns-team-0"


def _claimed(namespace: str, **claim: Any) -> dict[str, Any]:
    return {"storage": {"claims": [{"namespace": namespace, **claim}]}}


CASES: Cases = {}
CASES[claim_namespaces] = {
    "no file system": config(storage=None),
    "of Kubernetes": config(**_claimed("default")),
    "made": config(*_GPU_NODES, **_governed(_NODE), **_claimed(_TEAM, create_namespace=True)),
    "made for another file system": config(
        storage={
            "claims": [{"namespace": "research", "create_namespace": True}],
            "home_directories": {"claims": [{"namespace": "research"}]},
        }
    ),
    "made for a later file system": (
        config(
            storage={
                "claims": [{"namespace": "research"}],
                "home_directories": {
                    "claims": [{"namespace": "research", "create_namespace": True}]
                },
            }
        ),
        (WARNING, "storage.claims[0].namespace"),
    ),
    "of a team": config(*_GPU_NODES, **_governed(_NODE), **_claimed(_TEAM)),
    "of nobody": (config(**_claimed("research")), (WARNING, "storage.claims[0].namespace")),
}
CASES[governance_quotas] = {
    "off": config(),
    "all there is": config(*_GPU_NODES, **_governed(_NODE, _of(accelerators=8))),
    "partitions of a GPU that can be divided": config(
        *_GPU_NODES, **_governed(_of(partition={"type": "mig-1g.10gb", "count": 7}))
    ),
    "more where Karpenter makes nodes": config(
        *_GPU_NODES, of_cluster={"auto_scaling": "Karpenter"}, **_governed(_of(nodes=9))
    ),
    "a type of which nothing is known": config(
        group(UNDESCRIBED), **_governed(_of(UNDESCRIBED, accelerators=4))
    ),
    "over what the groups have": (
        config(*_GPU_NODES, **_governed(_NODE, _of(accelerators=12))),
        (ERROR, _TEAMS),
    ),
    "a million nodes, in digits": (
        config(*_GPU_NODES, **_governed(_of(nodes=1000000))),
        (ERROR, _TEAMS),
    ),
    "vCPUs over what the groups have": (
        config(*_GPU_NODES, **_governed(_of(CPU, vcpus=9))),
        (ERROR, _TEAMS),
    ),
    "a type that no group has": (
        config(*_GPU_NODES, **_governed(_of("ml.g6.xlarge", nodes=1))),
        (ERROR, f"{_TEAMS}[0].quota[0].instance_type"),
    ),
    "accelerators of a type without": (
        config(*_GPU_NODES, **_governed(_of(CPU, accelerators=1))),
        (ERROR, f"{_TEAMS}[0].quota[0].accelerators"),
    ),
    "partitions of a GPU that cannot be divided": (
        config(
            group("ml.g5.12xlarge"),
            **_governed(_of("ml.g5.12xlarge", partition={"type": "mig-1g.10gb", "count": 1})),
        ),
        (ERROR, f"{_TEAMS}[0].quota[0].partition"),
    ),
}
CASES[governance_priorities] = {
    "off": config(),
    "the defaults": config(*_GPU_NODES, **_governed(_NODE)),
    "the same weight, and a name of its own": config(
        *_GPU_NODES,
        **_governed(
            _NODE,
            priority_classes=[
                {"name": "training", "weight": 50},
                {"name": "inference", "weight": 50},
                {"name": "urgent", "weight": 90},
            ],
        ),
    ),
    "another order": (
        config(
            *_GPU_NODES,
            **_governed(
                _NODE,
                priority_classes=[
                    {"name": "training", "weight": 90},
                    {"name": "inference", "weight": 50},
                ],
            ),
        ),
        (ERROR, "governance.priority_classes[1].weight"),
    ),
}
CASES[governance_version] = {
    "off": config(eks={"version": "1.33"}),
    "pinned": config(*_GPU_NODES, **_governed(_NODE)),
    "an older version": (
        config(*_GPU_NODES, eks={"version": "1.33"}, **_governed(_NODE)),
        (ERROR, "eks.version"),
    ),
}
