"""The table of `decide`: what is found, and the step that follows."""

from dataclasses import replace
from typing import Any

import pytest
from provisioner.hyperpod.claim import FOUND_TAG, REFUSED_KEY, Claim, LeftGroups
from provisioner.hyperpod.found import (
    AskNodes,
    Create,
    Delete,
    Done,
    Fail,
    Found,
    Refuse,
    Tag,
    UpdateCluster,
    Wait,
)

from hyperpod_shared.failures import ReportedFailure
from provisioner.framework.operation import StackPhase
from provisioner.hyperpod.arrivals import Arrivals
from provisioner.hyperpod.changes import changes
from provisioner.hyperpod.cluster_request import ClusterRequest, HyperPodClusterProperties
from provisioner.hyperpod.decision import decide
from tests.support.provisioner.cloudformation import OTHER_STACK_ID, STACK_ID
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
from tests.support.provisioner.hyperpod_stack import ANOTHER_EKS_CLUSTER, CLASSIC, group, properties

REFUSED = OWN.after_call(REFUSED_KEY, now=NOW)
NOTHING = Found(now=NOW, described={})
ELSEWHERE: dict[str, Any] = {
    "VpcConfig": {"SecurityGroupIds": ["sg-0123456789abcdef0"], "Subnets": ["subnet-2"]}
}
IN_ANOTHER_SUBNET = replace(
    found("InService"), described={**found("InService").described, **ELSEWHERE}
)

# A poll of `is_complete`, unless the request begins.
CREATE = request("Create")
UPDATE = request("Update")
DELETE = request("Delete")
CREATE_BEGINS = request("Create", waits=False)
UPDATE_BEGINS = request("Update", waits=False)
DELETE_BEGINS = request("Delete", waits=False)
TURNED = replace(DELETE, phase=StackPhase.ROLLING_BACK)
TURNED_BEGINS = replace(DELETE_BEGINS, phase=StackPhase.ROLLING_BACK)
MOVES = replace(UPDATE, former=properties(group("workers"), NodeProvisioningMode=None, **ELSEWHERE))
LATE_UPDATE = request("Update", claim=LATE)
ROLLBACK = request("Update", claim=BACK)

Orchestrator = dict[str, Any]
EKS: Orchestrator = {"Orchestrator": {"Eks": {"ClusterArn": "arn:aws:eks:us-west-2:1:cluster/x"}}}
SLURM: Orchestrator = {"Orchestrator": {"Slurm": {}}}
ACCOUNTED: Orchestrator = {
    "Orchestrator": {"Slurm": {"AccountingDatabase": {"Endpoint": "db", "SecretArn": "arn"}}}
}
NO_DATABASE = ReportedFailure(text="The accounting database rejected the credentials")


def asking(before: Orchestrator, after: Orchestrator) -> ClusterRequest:
    """Return a poll of an update from one orchestrator to another."""
    wanted = HyperPodClusterProperties.parse(properties(group("workers"), **after))
    return replace(UPDATE, former=properties(group("workers"), **before), wanted=wanted)


def renamed(before: Orchestrator, after: Orchestrator) -> ClusterRequest:
    return replace(asking(before, after), renames=True, makes_a_cluster=True, waits=False)


def under(orchestrator: Orchestrator, claim: Claim = OWN) -> Found:
    there = found("InService", claim)
    workers = {**there.described["InstanceGroups"][0], "CurrentCount": 1}
    described = {**there.described, "NodeProvisioningMode": "Continuous", **orchestrator}
    return replace(there, described={**described, "InstanceGroups": [workers]})


ACCOUNTS = asking(SLURM, ACCOUNTED)
# HyperPod fills in what a request leaves out.
USED = {"Endpoint": "db", "SecretArn": "arn", "Port": 3306, "Name": "slurm_acct_db_1"}

LATEST_AMI = replace(
    UPDATE, wanted=HyperPodClusterProperties.parse({**CLASSIC, "SoftwareUpdate": "2026-11"})
)


def updated(**shown: str) -> Found:
    """Return what is found just after the call for the latest AMI, with what its group shows."""
    ((key, _),) = changes(LATEST_AMI.aim(), found("InService").described, {}).software
    there = found("InService", OWN.after_call(key, now=NOW))
    workers = {**there.described["InstanceGroups"][0], **shown}
    return replace(there, described={**there.described, "InstanceGroups": [workers]})


STEPS: dict[str, tuple[ClusterRequest, Found, type]] = {
    "a creation begins without a cluster": (CREATE_BEGINS, NOTHING, Create),
    "a creation's cluster is not there": (CREATE, NOTHING, Create),
    "an update's cluster is gone": (UPDATE, NOTHING, Create),
    "another name on the same EKS cluster": (
        replace(UPDATE_BEGINS, renames=True, makes_a_cluster=True),
        NOTHING,
        Refuse,
    ),
    "another name under Slurm, where two clusters could be": (
        renamed(SLURM, {"Orchestrator": {"Slurm": {"SlurmConfigStrategy": "Merge"}}}),
        NOTHING,
        Refuse,
    ),
    "another name and another orchestrator": (renamed(EKS, SLURM), NOTHING, Refuse),
    "another name on another EKS cluster": (renamed(EKS, ANOTHER_EKS_CLUSTER), NOTHING, Create),
    "another orchestrator, which its rollback has to know": (
        asking(EKS, SLURM),
        under(EKS),
        Tag,
    ),
    "a strategy is asked for": (
        asking(SLURM, {"Orchestrator": {"Slurm": {"SlurmConfigStrategy": "Overwrite"}}}),
        under(SLURM),
        UpdateCluster,
    ),
    "an accounting database is called for, and HyperPod looks at it": (
        ACCOUNTS,
        replace(under(SLURM, UPDATED), arrivals=Arrivals()),
        Wait,
    ),
    "an accounting database is called for, and HyperPod cannot use it": (
        ACCOUNTS,
        replace(under(SLURM, UPDATED), arrivals=Arrivals(failures=[NO_DATABASE])),
        Fail,
    ),
    "an accounting database is called for, and is there": (
        ACCOUNTS,
        replace(
            under({"Orchestrator": {"Slurm": {"AccountingDatabase": USED}}}, UPDATED),
            arrivals=Arrivals(),
        ),
        Done,
    ),
    "an accounting database is called for, and nothing else is waited for": (
        replace(ACCOUNTS, wanted=replace(ACCOUNTS.wanted, wait_for="in_service")),
        replace(under(SLURM, UPDATED), arrivals=Arrivals()),
        Wait,
    ),
    "an accounting database is called for, and HyperPod looks at it for too long": (
        replace(ACCOUNTS, sent_at=LATE.started_at),
        replace(under(SLURM, UPDATED), arrivals=Arrivals()),
        Done,
    ),
    "an accounting database of before fails": (
        UPDATE,
        replace(found("InService", UPDATED, count=2), arrivals=Arrivals(failures=[NO_DATABASE])),
        Wait,
    ),
    "the latest AMI is called for, and its group gets it": (
        LATEST_AMI,
        updated(SoftwareUpdateStatus="InProgress"),
        AskNodes,
    ),
    "the latest AMI is called for, which does not show yet": (LATEST_AMI, updated(), Wait),
    "another stack's cluster": (UPDATE, found("InService", stack_id=OTHER_STACK_ID), Refuse),
    "nobody's cluster": (UPDATE, replace(found("InService"), tags={}), Refuse),
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
    "an update begins": (UPDATE_BEGINS, found("InService"), UpdateCluster),
    "a call is left": (UPDATE, found("InService"), UpdateCluster),
    "a call is left, and the cluster is busy": (UPDATE, found("Updating"), Wait),
    "a call is left, and the cluster is busy for too long": (
        LATE_UPDATE,
        found("Updating", LATE),
        Fail,
    ),
    "a call is left, and the cluster rolls back": (UPDATE, found("RollingBack"), Wait),
    "HyperPod never makes the change, which its rollback has to know": (
        MOVES,
        IN_ANOTHER_SUBNET,
        Tag,
    ),
    "HyperPod never makes the change": (
        MOVES,
        replace(IN_ANOTHER_SUBNET, tags={**IN_ANOTHER_SUBNET.tags, **REFUSED.note}),
        Refuse,
    ),
    "updated, and busy with it": (UPDATE, found("Updating", UPDATED), Wait),
    "updated, and rolls back": (UPDATE, found("RollingBack", UPDATED), Fail),
    "updated, and taken back": (UPDATE, found("InService", UPDATED), Fail),
    "updated, which is not visible, and taken back": (
        request("Update", claim=UPDATED),
        found("InService"),
        Fail,
    ),
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
    "is being deleted for too long": (LATE_UPDATE, found("Deleting", LATE), Fail),
    "rollback: no cluster": (ROLLBACK, NOTHING, Done),
    "rollback: no cluster that shows so soon": (
        replace(ROLLBACK, claim=replace(BACK, started_at=NOW - 1)),
        NOTHING,
        Wait,
    ),
    "rollback: another stack's cluster": (ROLLBACK, found("Failed", stack_id=OTHER_STACK_ID), Done),
    "rollback: of another name": (
        replace(ROLLBACK, renames=True),
        found("InService", BACK),
        Done,
    ),
    "rollback: failed": (ROLLBACK, found("Failed", BACK), Done),
    "rollback: begins, worked once, failed": (
        replace(ROLLBACK, waits=False),
        found("Failed", BACK, tags=SUCCEEDED),
        UpdateCluster,
    ),
    "rollback: not claimed yet": (ROLLBACK, found("InService", BEFORE), Tag),
    "rollback: begins, and the call that it takes back may not show yet": (
        replace(ROLLBACK, waits=False, claim=replace(BACK, started_at=NOW - 1)),
        found("InService", Claim.of("before", started_at=NOW - 9_000, asks="failed")),
        Wait,
    ),
    "rollback: a call is left": (ROLLBACK, found("InService", BACK), UpdateCluster),
    "rollback: is being deleted": (ROLLBACK, found("Deleting", BACK), Wait),
    "rollback: is being deleted for longer than an update waits": (
        replace(ROLLBACK, sent_at=NOW - 52 * MINUTE),
        found("Deleting", BACK),
        Wait,
    ),
    "rollback: out of time": (
        replace(ROLLBACK, claim=LATE_BACK, sent_at=LATE_BACK.started_at),
        found("Updating", LATE_BACK),
        Done,
    ),
    "delete: no cluster": (DELETE, NOTHING, Done),
    "delete: another stack's cluster": (DELETE, found("InService", stack_id=OTHER_STACK_ID), Done),
    "delete: nobody's cluster": (DELETE, replace(found("InService"), tags={}), Refuse),
    "delete: a request's whose function's clock is ahead": (
        DELETE,
        found("InService", LATER),
        Tag,
    ),
    "delete: not claimed yet": (DELETE_BEGINS, found("InService", BEFORE), Tag),
    "delete: whatever its status": (DELETE, found("Updating"), Delete),
    "delete: is being deleted": (DELETE, found("Deleting"), Wait),
    "delete: a failed creation is kept": (TURNED_BEGINS, found("Failed"), Refuse),
    "delete: a failed creation, with the stack": (
        DELETE_BEGINS,
        found("Failed"),
        Delete,
    ),
    "delete: a failed creation, perhaps in a rollback": (
        replace(DELETE_BEGINS, phase=None),
        found("Failed"),
        Refuse,
    ),
    "delete: worked before the stack was there": (
        DELETE_BEGINS,
        found("InService", tags=TAKEN_OVER),
        Delete,
    ),
    "delete: worked before the stack was there, which rolls back": (
        TURNED,
        found("InService", tags=TAKEN_OVER),
        Done,
    ),
    "delete: created too late, as far as is visible so soon": (
        replace(TURNED, claim=replace(OWN, started_at=NOW - MINUTE)),
        found("InService"),
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


@pytest.mark.parametrize("case", [case for case, (*_, step) in STEPS.items() if step is Fail])
def test_only_a_cluster_that_failed_as_it_was_created_is_noted_as_such(case: str) -> None:
    asks, there, _ = STEPS[case]
    step = decide(there, asks)
    assert isinstance(step, Fail)
    assert step.of_creation is (case == "created, and failed")


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


@pytest.mark.parametrize("is_left", [False, True])
def test_groups_that_were_left_are_not_noted_as_found(*, is_left: bool) -> None:
    noted = LeftGroups.with_counts({"workers": None} if is_left else {})
    update = replace(UPDATE_BEGINS, former=properties(NodeProvisioningMode=None))
    step = decide(found("InService", BEFORE, tags=noted.tag), update)

    assert isinstance(step, Tag)
    assert (FOUND_TAG in step.add) is not is_left


def test_a_former_stacks_working_cluster_is_adopted_though_it_does_not_say_that_it_worked() -> None:
    former = f"{STACK_ID.rpartition('/')[0]}/former-creation"
    there = found("InService", BEFORE, stack_id=former)
    step = decide(there, CREATE_BEGINS)

    assert isinstance(step, Tag)
    assert TAKEN_OVER.items() <= step.add.items()
