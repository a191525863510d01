"""The table of `decide`: what is found, and the step that follows."""

import json
from dataclasses import replace

import pytest

from provisioner.aws.stack import StackPhase
from provisioner.framework.owner import Owner
from provisioner.framework.request import RequestType
from provisioner.hyperpod import steps
from provisioner.hyperpod.claim import CREATION_TAG, Claim
from provisioner.hyperpod.cluster_request import ClusterRequest
from provisioner.hyperpod.decision import decide
from provisioner.hyperpod.found import Found
from provisioner.hyperpod.properties import HyperPodClusterProperties
from tests.support.provisioner.cloudformation import OTHER_STACK_ID, STACK_ID
from tests.support.provisioner.hyperpod_stack import CLASSIC, group, properties

NOW = 1_800_000_000.0
MINUTE = 60.0
OWNER = Owner(stack_id=STACK_ID, logical_id="Resource")
BEFORE = Claim.of("before", started_at=NOW - 9_000, takes_back="")
OWN = Claim.of("own", started_at=NOW - 10 * MINUTE).over(BEFORE)
BACK = Claim.of("own", started_at=NOW - 10 * MINUTE, takes_back="failed").over(BEFORE)
LATER = Claim.of("later", started_at=NOW - MINUTE)
WANTED = properties(group("workers", 2), NodeProvisioningMode=None)
SUCCEEDED = {CREATION_TAG: "succeeded"}
MADE = OWN.after_call("create", now=NOW - 9 * MINUTE)
UPDATED = OWN.after_call("update", now=NOW - 9 * MINUTE)


def request(kind: RequestType, *, waits: bool = True, claim: Claim = OWN) -> ClusterRequest:
    return ClusterRequest(
        type=kind,
        owner=OWNER,
        claim=claim,
        properties="wanted",
        former=CLASSIC if kind == "Update" else None,
        renames=False,
        makes_a_cluster=kind == "Create",
        waits=waits,
    )


def found(
    status: str,
    claim: Claim | None = OWN,
    *,
    count: int = 1,
    stack_id: str = STACK_ID,
    tags: dict[str, str] | None = None,
    stack: StackPhase | None = StackPhase.DEPLOYING,
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
        tags={**owned, "team": "research", **(tags or {}), **(claim.tag if claim else {})},
        stack=stack,
    )


NOTHING = Found(now=NOW, described={}, stack=StackPhase.DEPLOYING)

TURNED = StackPhase.ROLLING_BACK


@pytest.mark.parametrize(
    ("asks", "there", "step"),
    [
        (request("Create", waits=False), NOTHING, steps.Create),
        (request("Create"), NOTHING, steps.Create),
        (request("Update"), NOTHING, steps.Create),
        (request("Update"), replace(NOTHING, stack=None), steps.AskStack),
        (request("Update"), replace(NOTHING, stack=TURNED), steps.Refuse),
        (request("Update"), replace(NOTHING, stack=StackPhase.DELETING), steps.Refuse),
        (request("Update"), replace(NOTHING, stack=StackPhase.SETTLED), steps.Wait),
        (request("Update", claim=BACK), NOTHING, steps.Done),
        (request("Update"), found("InService", stack_id=OTHER_STACK_ID), steps.Refuse),
        (request("Update", claim=BACK), found("Failed", stack_id=OTHER_STACK_ID), steps.Done),
        (request("Update"), found("InService", LATER), steps.Refuse),
        (request("Update"), found("InService", LATER.over(OWN)), steps.Refuse),
        (request("Update", waits=False), found("InService", LATER.over(OWN)), steps.Refuse),
        (request("Update", waits=False), found("InService", LATER), steps.Tag),
        (request("Update"), found("InService", BEFORE), steps.Tag),
        (
            request("Update", claim=replace(OWN, started_at=NOW - MINUTE)),
            found("InService", BEFORE),
            steps.Wait,
        ),
        (request("Update"), found("InService", BEFORE, stack=TURNED), steps.Wait),
        (request("Update", waits=False), found("InService"), steps.UpdateCluster),
        (request("Update"), found("InService"), steps.UpdateCluster),
        (request("Update"), found("InService", stack=None), steps.AskStack),
        (request("Update"), found("InService", stack=TURNED), steps.Wait),
        (request("Update"), found("InService", stack=StackPhase.SETTLED), steps.Wait),
        (request("Update"), found("Updating"), steps.Wait),
        (request("Update"), found("Updating", UPDATED), steps.Wait),
        (request("Update"), found("RollingBack"), steps.Wait),
        (request("Update"), found("RollingBack", UPDATED), steps.Fail),
        (request("Update"), found("InService", UPDATED), steps.Fail),
        (request("Update"), found("InService", UPDATED, count=2), steps.Done),
        (request("Update"), found("InService", OWN.after_call("update", now=NOW)), steps.Wait),
        (request("Update"), found("Failed"), steps.Delete),
        (request("Update"), found("Failed", BEFORE), steps.Tag),
        (request("Update"), found("Failed", tags=SUCCEEDED), steps.Fail),
        (request("Update", waits=False), found("Failed", tags=SUCCEEDED), steps.UpdateCluster),
        (request("Create"), found("Failed", tags=SUCCEEDED), steps.Delete),
        (request("Create"), found("Failed", MADE), steps.Fail),
        (request("Create"), found("Creating", MADE), steps.Wait),
        (request("Create"), found("Deleting", MADE), steps.Fail),
        (request("Update"), found("Deleting"), steps.Wait),
        (request("Create"), found("InService", MADE), steps.Done),
        (request("Create"), found("InService"), steps.UpdateCluster),
        (request("Update", claim=BACK), found("Failed", BACK, stack=TURNED), steps.Done),
        (request("Update", claim=BACK), found("InService", BEFORE, stack=TURNED), steps.Tag),
        (
            request("Update", claim=BACK),
            found("InService", BACK, stack=TURNED),
            steps.UpdateCluster,
        ),
        (request("Update", claim=BACK), found("InService", BACK), steps.Wait),
        (request("Delete"), NOTHING, steps.Done),
        (request("Delete"), found("Deleting"), steps.Wait),
        (request("Delete"), found("InService", stack_id=OTHER_STACK_ID), steps.Done),
        (request("Delete"), found("InService", LATER), steps.Refuse),
        (request("Delete", waits=False), found("InService", BEFORE), steps.Tag),
        (request("Delete"), found("Updating"), steps.Delete),
        (request("Delete", waits=False), found("Failed", stack=TURNED), steps.Refuse),
        (request("Delete", waits=False), found("Failed", stack=None), steps.AskStack),
        (request("Delete", waits=False), found("Failed", stack=StackPhase.DELETING), steps.Delete),
        (
            request("Delete"),
            found("Failed", OWN.after_call("delete", now=NOW - 9 * MINUTE)),
            steps.Fail,
        ),
    ],
)
def test_decide(asks: ClusterRequest, there: Found, step: type) -> None:
    wanted = HyperPodClusterProperties.parse(WANTED)
    if asks.claim.rolls_back:  # the way back is from three nodes, which did not come true
        wanted = replace(wanted, cluster_input={**wanted.cluster_input, "NodeRecovery": "None"})
    assert type(decide(there, wanted, asks)) is step


@pytest.mark.parametrize("text", ["", "e6d4096fb8490000:1", "a:b:c:d:e:f", "x" * 256])
def test_a_tag_that_is_no_claim_is_none(text: str) -> None:
    assert Claim.parse(text) is None


def test_a_claim_survives_its_tag_and_fits_one() -> None:
    claim = Claim.of("first", started_at=NOW)
    for number in range(20):
        claim = Claim.of(f"request-{number}", started_at=NOW, takes_back="p" * 12).over(claim)
        claim = claim.after_call("k" * 12, now=NOW)
        assert Claim.parse(str(claim)) == claim
        assert len(str(claim)) <= 256
    assert claim.started_at > NOW


@pytest.mark.parametrize(
    ("status", "phase"),
    [
        ("CREATE_IN_PROGRESS", StackPhase.DEPLOYING),
        ("UPDATE_IN_PROGRESS", StackPhase.DEPLOYING),
        ("UPDATE_COMPLETE_CLEANUP_IN_PROGRESS", StackPhase.SETTLED),
        ("UPDATE_COMPLETE", StackPhase.SETTLED),
        ("ROLLBACK_IN_PROGRESS", StackPhase.ROLLING_BACK),
        ("UPDATE_ROLLBACK_IN_PROGRESS", StackPhase.ROLLING_BACK),
        ("UPDATE_ROLLBACK_COMPLETE_CLEANUP_IN_PROGRESS", StackPhase.ROLLING_BACK),
        ("UPDATE_ROLLBACK_COMPLETE", StackPhase.SETTLED),
        ("UPDATE_ROLLBACK_FAILED", StackPhase.SETTLED),
        ("DELETE_IN_PROGRESS", StackPhase.DELETING),
        ("DELETE_COMPLETE", StackPhase.DELETING),
    ],
)
def test_stack_phases(status: str, phase: StackPhase) -> None:
    assert StackPhase.of(status) is phase
