"""The table of `decide`: what is found, and the step that follows."""

from dataclasses import replace
from typing import Any

import pytest

from provisioner.aws.stack import StackPhase
from provisioner.hyperpod.claim import Claim
from provisioner.hyperpod.cluster_request import ClusterRequest
from provisioner.hyperpod.decision import decide
from provisioner.hyperpod.found import Found
from provisioner.hyperpod.steps import (
    AskNodes,
    AskStack,
    Create,
    Delete,
    Done,
    Fail,
    Refuse,
    Tag,
    UpdateCluster,
    Wait,
)
from tests.support.provisioner.cloudformation import OTHER_STACK_ID
from tests.support.provisioner.decided import (
    BACK,
    BEFORE,
    LATE,
    LATE_BACK,
    LATER,
    MADE,
    MINUTE,
    NOW,
    OWN,
    SUCCEEDED,
    TAKEN_OVER,
    UPDATED,
    found,
    request,
)
from tests.support.provisioner.hyperpod_stack import group, properties

NOTHING = Found(now=NOW, described={}, stack=StackPhase.DEPLOYING)
ELSEWHERE: dict[str, Any] = {
    "VpcConfig": {"SecurityGroupIds": ["sg-0123456789abcdef0"], "Subnets": ["subnet-2"]}
}
IN_ANOTHER_SUBNET = replace(
    found("InService"), described={**found("InService").described, **ELSEWHERE}
)

TURNED = StackPhase.ROLLING_BACK
DELETING, SETTLED = StackPhase.DELETING, StackPhase.SETTLED

# A poll of `is_complete`, unless the request begins.
CREATE = request("Create")
UPDATE = request("Update")
DELETE = request("Delete")
CREATE_BEGINS = request("Create", waits=False)
UPDATE_BEGINS = request("Update", waits=False)
DELETE_BEGINS = request("Delete", waits=False)
MOVES = replace(UPDATE, former=properties(group("workers"), NodeProvisioningMode=None, **ELSEWHERE))
LATE_UPDATE = request("Update", claim=LATE)
ROLLBACK = request("Update", claim=BACK)

STEPS: dict[str, tuple[ClusterRequest, Found, type]] = {
    "a creation begins without a cluster": (CREATE_BEGINS, NOTHING, Create),
    "a creation's cluster is not there": (CREATE, NOTHING, Create),
    "an update's cluster is gone": (UPDATE, NOTHING, Create),
    "another name on the same EKS cluster": (
        replace(UPDATE_BEGINS, renames=True, makes_a_cluster=True),
        NOTHING,
        Refuse,
    ),
    "it is gone, and nobody asked about the stack": (
        UPDATE,
        replace(NOTHING, stack=None),
        AskStack,
    ),
    "it is gone while the stack rolls back": (UPDATE, replace(NOTHING, stack=TURNED), Refuse),
    "it is gone while the stack is deleted": (UPDATE, replace(NOTHING, stack=DELETING), Refuse),
    "it is gone after the stack has settled": (UPDATE, replace(NOTHING, stack=SETTLED), Wait),
    "another stack's cluster": (UPDATE, found("InService", stack_id=OTHER_STACK_ID), Refuse),
    "nobody's cluster": (UPDATE, replace(found("InService"), tags={}), Refuse),
    "a later request's, which knows nothing of this one": (
        UPDATE,
        found("InService", LATER),
        Refuse,
    ),
    "a later request's": (UPDATE, found("InService", LATER.over(OWN)), Refuse),
    "a retry after a later request": (UPDATE_BEGINS, found("InService", LATER.over(OWN)), Refuse),
    "an update begins after a request that began later": (
        UPDATE_BEGINS,
        found("InService", LATER),
        Tag,
    ),
    "not claimed yet": (UPDATE, found("InService", BEFORE), Tag),
    "not claimed yet, as far as is visible so soon": (
        replace(UPDATE, claim=replace(OWN, started_at=NOW - MINUTE)),
        found("InService", BEFORE),
        Wait,
    ),
    "not claimed yet, and the stack rolls back": (
        UPDATE,
        found("InService", BEFORE, stack=TURNED),
        Wait,
    ),
    "an update begins": (UPDATE_BEGINS, found("InService"), UpdateCluster),
    "a call is left": (UPDATE, found("InService"), UpdateCluster),
    "a call is left, and nobody asked about the stack": (
        UPDATE,
        found("InService", stack=None),
        AskStack,
    ),
    "a call is left, and the stack rolls back": (UPDATE, found("InService", stack=TURNED), Wait),
    "a call is left, and the stack has settled": (UPDATE, found("InService", stack=SETTLED), Wait),
    "a call is left, and the cluster is busy": (UPDATE, found("Updating"), Wait),
    "a call is left, and the cluster is busy for too long": (
        LATE_UPDATE,
        found("Updating", LATE),
        Fail,
    ),
    "a call is left, and the cluster rolls back": (UPDATE, found("RollingBack"), Wait),
    "HyperPod never makes the change": (MOVES, IN_ANOTHER_SUBNET, Refuse),
    "updated, and busy with it": (UPDATE, found("Updating", UPDATED), Wait),
    "updated, and rolls back": (UPDATE, found("RollingBack", UPDATED), Fail),
    "updated, and taken back": (UPDATE, found("InService", UPDATED), Fail),
    "updated so lately that it may not show": (
        UPDATE,
        found("InService", OWN.after_call("update", now=NOW)),
        Wait,
    ),
    "updated, and the tags differ": (
        UPDATE,
        found("InService", UPDATED, count=2, tags={"team": "x"}),
        Tag,
    ),
    "updated": (UPDATE, found("InService", UPDATED, count=2), AskNodes),
    "a creation adopts a former stack's cluster": (CREATE, found("InService"), UpdateCluster),
    "created, and not ready yet": (CREATE, found("Creating", MADE), Wait),
    "created": (CREATE, found("InService", MADE), AskNodes),
    "created, and failed": (CREATE, found("Failed", MADE), Fail),
    "created, and deleted meanwhile": (CREATE, found("Deleting", MADE), Fail),
    "never worked": (UPDATE, found("Failed"), Delete),
    "never worked, not claimed yet": (UPDATE, found("Failed", BEFORE), Tag),
    "worked once, and an update begins": (
        UPDATE_BEGINS,
        found("Failed", tags=SUCCEEDED),
        UpdateCluster,
    ),
    "worked once, and failed": (UPDATE, found("Failed", tags=SUCCEEDED), Fail),
    "worked once, failed, and is to be created": (CREATE, found("Failed", tags=SUCCEEDED), Refuse),
    "works, and is to be created": (CREATE, found("InService", BEFORE, tags=SUCCEEDED), Tag),
    "is busy, and is to be created": (CREATE, found("Updating", BEFORE, tags=SUCCEEDED), Wait),
    "is being deleted": (UPDATE, found("Deleting"), Wait),
    "rollback: no cluster": (ROLLBACK, NOTHING, Done),
    "rollback: another stack's cluster": (ROLLBACK, found("Failed", stack_id=OTHER_STACK_ID), Done),
    "rollback: of another name": (
        replace(ROLLBACK, renames=True),
        found("InService", BACK, stack=TURNED),
        Done,
    ),
    "rollback: failed": (ROLLBACK, found("Failed", BACK, stack=TURNED), Done),
    "rollback: begins, worked once, failed": (
        replace(ROLLBACK, waits=False),
        found("Failed", BACK, tags=SUCCEEDED),
        UpdateCluster,
    ),
    "rollback: not claimed yet": (ROLLBACK, found("InService", BEFORE, stack=TURNED), Tag),
    "rollback: a call is left": (ROLLBACK, found("InService", BACK, stack=TURNED), UpdateCluster),
    "rollback: the stack deploys again": (ROLLBACK, found("InService", BACK), Wait),
    "rollback: is being deleted": (ROLLBACK, found("Deleting", BACK, stack=TURNED), Wait),
    "rollback: out of time": (
        replace(ROLLBACK, claim=LATE_BACK),
        found("Updating", LATE_BACK, stack=TURNED),
        Done,
    ),
    "delete: no cluster": (DELETE, NOTHING, Done),
    "delete: another stack's cluster": (DELETE, found("InService", stack_id=OTHER_STACK_ID), Done),
    "delete: nobody's cluster": (DELETE, replace(found("InService"), tags={}), Refuse),
    "delete: a later request's": (DELETE, found("InService", LATER.over(OWN)), Refuse),
    "delete: a request's whose function's clock is ahead": (
        DELETE,
        found("InService", LATER),
        Tag,
    ),
    "delete: not claimed yet": (DELETE_BEGINS, found("InService", BEFORE), Tag),
    "delete: whatever its status": (DELETE, found("Updating"), Delete),
    "delete: is being deleted": (DELETE, found("Deleting"), Wait),
    "delete: a failed creation is kept": (DELETE_BEGINS, found("Failed", stack=TURNED), Refuse),
    "delete: a failed creation, and nobody asked about the stack": (
        DELETE_BEGINS,
        found("Failed", stack=None),
        AskStack,
    ),
    "delete: a failed creation, with the stack": (
        DELETE_BEGINS,
        found("Failed", stack=DELETING),
        Delete,
    ),
    "delete: worked before the stack was there": (
        DELETE_BEGINS,
        found("InService", tags=TAKEN_OVER),
        Delete,
    ),
    "delete: worked before the stack was there, which rolls back": (
        DELETE,
        found("InService", tags=TAKEN_OVER, stack=TURNED),
        Done,
    ),
    "delete: created too late, as far as is visible so soon": (
        replace(DELETE, claim=replace(OWN, started_at=NOW - MINUTE)),
        found("InService", stack=TURNED),
        Wait,
    ),
    "delete: failed after the call": (
        DELETE,
        found("Failed", OWN.after_call("delete", now=NOW - 9 * MINUTE)),
        Fail,
    ),
}


@pytest.mark.parametrize(("asks", "there", "step"), STEPS.values(), ids=STEPS)
def test_decide(asks: ClusterRequest, there: Found, step: type) -> None:
    wanted = asks.wanted
    if asks.claim.rolls_back:  # the way back is from three nodes, which did not come true
        wanted = replace(wanted, cluster_input={**wanted.cluster_input, "NodeRecovery": "None"})
    assert type(decide(there, replace(asks, wanted=wanted))) is step


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
