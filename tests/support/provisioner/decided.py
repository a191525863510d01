"""Requests about a cluster, and what they find, for the tables of `decide`."""

import json
from dataclasses import replace

from provisioner.hyperpod.claim import CREATION_TAG, Claim
from provisioner.hyperpod.found import Found

from hyperpod_shared.owner import Owner
from provisioner.framework.operation import StackPhase
from provisioner.framework.request import RequestType
from provisioner.hyperpod.cluster_request import ClusterRequest, HyperPodClusterProperties
from tests.support.provisioner.cloudformation import STACK_ID
from tests.support.provisioner.hyperpod_stack import CLASSIC, group, properties

NOW = 1_800_000_000.0
MINUTE = 60.0
OWNER = Owner(stack_id=STACK_ID, logical_id="Resource")
BEFORE = Claim.of("before", started_at=NOW - 9_000, asks="failed").after_call(
    "update", now=NOW - 9_000
)
OWN = Claim.of("own", started_at=NOW - 10 * MINUTE).over(BEFORE)
BACK = Claim.of("own", started_at=NOW - 10 * MINUTE, takes_back="failed").over(BEFORE)
LATER = Claim.of("later", started_at=NOW - MINUTE)
LATE = Claim.of("own", started_at=NOW - 60 * MINUTE).over(BEFORE)
LATE_BACK = Claim.of("own", started_at=NOW - 60 * MINUTE, takes_back="failed").over(BEFORE)
WANTED = properties(group("workers", 2), NodeProvisioningMode=None)
SUCCEEDED = {CREATION_TAG: "succeeded"}
TAKEN_OVER = {CREATION_TAG: "adopted"}
MADE = OWN.after_call("create", now=NOW - 9 * MINUTE)
UPDATED = OWN.after_call("update", now=NOW - 9 * MINUTE)


def request(
    kind: RequestType,
    *,
    waits: bool = True,
    claim: Claim = OWN,
    phase: StackPhase = StackPhase.DEPLOYING,
) -> ClusterRequest:
    return ClusterRequest(
        type=kind,
        owner=OWNER,
        claim=claim,
        sent_at=claim.started_at,
        wanted=HyperPodClusterProperties.parse(WANTED),
        former=CLASSIC if kind == "Update" else None,
        renames=False,
        makes_a_cluster=kind == "Create",
        waits=waits,
        phase=phase,
    )


def found(
    status: str,
    claim: Claim | None = OWN,
    *,
    count: int = 1,
    stack_id: str = STACK_ID,
    tags: dict[str, str] | None = None,
) -> Found:
    made = json.loads(CLASSIC["Request"])
    workers = {**group("workers"), "TargetCount": count, "CurrentCount": 0}
    del workers["InstanceCount"]
    owned = replace(OWNER, stack_id=stack_id).tags
    return Found(
        now=NOW,
        described={
            **made,
            "ClusterStatus": status,
            "InstanceGroups": [workers],
        },
        tags={
            **owned,
            "team": "research",
            **(tags or {}),
            **({**claim.tag, **claim.note} if claim else {}),
        },
    )
