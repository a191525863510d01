"""Looks at a cluster, for the tables of `decide`."""

import json
from dataclasses import replace
from typing import Any

from hyperpod_shared.owner import Owner
from provisioner.framework.operation import StackPhase
from provisioner.framework.request import RequestType
from provisioner.hyperpod.cluster_request import ClusterRequest, HyperPodClusterProperties
from provisioner.hyperpod.look import Look
from provisioner.hyperpod.notes import CREATE, UPDATE, Call, GroupNote, Notes
from tests.support.provisioner.cloudformation import STACK_ID
from tests.support.provisioner.hyperpod_stack import CLASSIC, group, properties

NOW = 1_800_000_000.0
MINUTE = 60.0
ARN = "arn:aws:sagemaker:us-west-2:111122223333:cluster/abcdefghij12"
OWNER = Owner(stack_id=STACK_ID, logical_id="Resource")
WANTED = properties(group("workers", 2), NodeProvisioningMode=None)


def called(key: str, *, minutes: float = 9, **more: Any) -> Call:
    """Return a call that was taken some minutes ago."""
    return Call(key=key, at=NOW - minutes * MINUTE, answered=True, **more)


BEFORE = Notes(
    holder="before",
    asks="failed",
    calls=(called(UPDATE, minutes=150),),
    groups={"workers": GroupNote(asked=group("workers"))},
)
CHANGED = GroupNote(
    asked=group("workers"), by="before", before=2, was=GroupNote(asked=group("workers", 2))
)
OWN = BEFORE.taken_by("own", asks="wanted", takes_back="")
BACK = replace(BEFORE, groups={"workers": CHANGED}).taken_by(
    "own", asks="before", takes_back="failed"
)
MADE, UPDATED = OWN.calling(called(CREATE)), OWN.calling(called(UPDATE))


def request(
    kind: RequestType,
    *,
    waits: bool = True,
    minutes: float = 10,
    phase: StackPhase | None = StackPhase.DEPLOYING,
    **wanted: str,
) -> ClusterRequest:
    """Return a request that began some minutes ago: a poll, unless it waits for nothing."""
    rolls_back = kind == "Update" and phase is StackPhase.ROLLING_BACK
    return ClusterRequest(
        type=kind,
        request_id="own",
        owner=OWNER,
        begun_at=NOW - minutes * MINUTE,
        sent_at=NOW - minutes * MINUTE,
        wanted=HyperPodClusterProperties.parse({**WANTED, **wanted}),
        former=CLASSIC if kind == "Update" else None,
        rolls_back=rolls_back,
        renames=False,
        makes_a_cluster=kind == "Create",
        waits=waits,
        phase=phase,
        asks="wanted",
        takes_back="failed" if rolls_back else "",
    )


def look(
    asks: ClusterRequest,
    status: str = "",
    notes: Notes = OWN,
    *,
    count: int = 1,
    stack_id: str = STACK_ID,
    tags: dict[str, str] | None = None,
    creation: str = "",
    shown: dict[str, Any] | None = None,
    workers: dict[str, Any] | None = None,
    **more: Any,
) -> Look:
    """Return a look at the cluster as CLASSIC made it; at none without a status.

    `shown` is what the cluster has otherwise, `workers` its group.
    """
    details = {**group("workers"), "TargetCount": count, "CurrentCount": 0, **(workers or {})}
    del details["InstanceCount"]
    described = {
        **json.loads(CLASSIC["Request"]),
        "ClusterArn": ARN,
        "ClusterStatus": status,
        "InstanceGroups": [details],
        **(shown or {}),
    }
    owned = {**replace(OWNER, stack_id=stack_id).tags, "team": "research"}
    return Look(
        now=NOW,
        request=asks,
        described=described if status else {},
        tags=owned if tags is None else tags,
        notes=replace(notes, creation=creation),
        **more,
    )
