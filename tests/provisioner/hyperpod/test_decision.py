"""The table of `decide`: what is found, and the step that follows."""

from dataclasses import replace
from datetime import UTC, datetime
from typing import Any

import pytest

from hyperpod_shared.failures import ReportedFailure
from provisioner.framework.operation import StackPhase
from provisioner.hyperpod import notes
from provisioner.hyperpod.arrivals import Arrivals
from provisioner.hyperpod.cluster_request import ClusterRequest, HyperPodClusterProperties
from provisioner.hyperpod.decision import STATES, decide
from provisioner.hyperpod.look import Look
from provisioner.hyperpod.steps import (
    AskNodes,
    Create,
    Delete,
    Done,
    Fail,
    Refuse,
    Tag,
    UpdateCluster,
    UpdateSoftware,
    Wait,
)
from tests.support.provisioner.cloudformation import OTHER_STACK_ID, STACK_ID
from tests.support.provisioner.decided import (
    ARN,
    BACK,
    BEFORE,
    MADE,
    MINUTE,
    NOW,
    OWN,
    UPDATED,
    called,
    look,
    request,
)
from tests.support.provisioner.hyperpod_stack import ANOTHER_EKS_CLUSTER, CLASSIC, group, properties

ELSEWHERE: dict[str, Any] = {
    "VpcConfig": {"SecurityGroupIds": ["sg-0123456789abcdef0"], "Subnets": ["subnet-2"]}
}
SUCCEEDED: dict[str, Any] = {"creation": notes.SUCCEEDED}
ADOPTED: dict[str, Any] = {"creation": notes.ADOPTED}
CREATE_FAILED: dict[str, Any] = {"creation": notes.CREATE_FAILED}
FORMER = f"{STACK_ID.rpartition('/')[0]}/former-creation"

# A poll of `is_complete`, unless the request begins.
CREATE = request("Create")
UPDATE = request("Update")
DELETE = request("Delete")
CREATE_BEGINS = request("Create", waits=False)
UPDATE_BEGINS = request("Update", waits=False)
DELETE_BEGINS = request("Delete", waits=False)
TURNED = request("Delete", phase=StackPhase.ROLLING_BACK)
UNKNOWN = request("Delete", phase=None)
MOVES = replace(UPDATE, former=properties(group("workers"), NodeProvisioningMode=None, **ELSEWHERE))
LATE_CREATE, LATE_UPDATE = request("Create", minutes=60), request("Update", minutes=60)
STRICT = request("Update", minutes=60, OnShortage="fail")
DELETED = OWN.calling(called(notes.DELETE))
# The way back is from three nodes, which did not come true.
ROLLBACK = request("Update", phase=StackPhase.ROLLING_BACK)
LATE_BACK = request("Update", phase=StackPhase.ROLLING_BACK, minutes=60)
JUST_CALLED = called(notes.UPDATE, minutes=0, groups={"workers": group("workers", 3)})
HIDDEN = replace(OWN, former=JUST_CALLED)

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


def renamed(before: Orchestrator, after: Orchestrator) -> Look:
    asks = asking(before, after)
    return look(replace(asks, renames=True, makes_a_cluster=True, waits=False))


def under(orchestrator: Orchestrator, asks: ClusterRequest, **more: Any) -> Look:
    shown = {"NodeProvisioningMode": "Continuous", **orchestrator}
    return look(asks, "InService", shown=shown, workers={"CurrentCount": 1}, **more)


ACCOUNTS = asking(SLURM, ACCOUNTED)
CALLED: dict[str, Any] = {"notes": UPDATED}
# HyperPod fills in what a request leaves out.
USED = {"Endpoint": "db", "SecretArn": "arn", "Port": 3306, "Name": "slurm_acct_db_1"}

LATEST_AMI = replace(
    UPDATE, wanted=HyperPodClusterProperties.parse({**CLASSIC, "SoftwareUpdate": "2026-11"})
)
PATCHED = OWN.calling(
    called(look(LATEST_AMI, "InService").todo.software[0][0], minutes=0, images={"workers": []})
)
RUNNING = Arrivals(
    nodes=[{"InstanceGroupName": "workers", "InstanceStatus": {"Status": "Running"}}] * 2
)
SCRIPT = ReportedFailure(
    text="Lifecycle scripts did not run successfully", group="workers", instance="i-1"
)
BROKEN = Arrivals(nodes=[], failures=[SCRIPT], attempts={"workers": 4})


def updated(asks: ClusterRequest = UPDATE, **more: Any) -> Look:
    return look(asks, "InService", UPDATED, count=2, **more)


STEPS: dict[str, tuple[Look, type]] = {
    "a creation begins without a cluster": (look(CREATE_BEGINS), Create),
    "a creation's cluster is not there": (look(CREATE), Create),
    "a creation's cluster is not there yet": (
        look(CREATE, notes=OWN.calling(called(notes.CREATE, minutes=0))),
        Wait,
    ),
    "an update's cluster is gone": (look(UPDATE), Create),
    "another name on the same EKS cluster": (
        look(replace(UPDATE_BEGINS, renames=True, makes_a_cluster=True)),
        Refuse,
    ),
    "another name under Slurm, where two clusters could be": (
        renamed(SLURM, {"Orchestrator": {"Slurm": {"SlurmConfigStrategy": "Merge"}}}),
        Refuse,
    ),
    "another name and another orchestrator": (renamed(EKS, SLURM), Refuse),
    "another name on another EKS cluster": (renamed(EKS, ANOTHER_EKS_CLUSTER), Create),
    "another orchestrator": (under(EKS, asking(EKS, SLURM)), Refuse),
    "a strategy is asked for": (
        under(SLURM, asking(SLURM, {"Orchestrator": {"Slurm": {"SlurmConfigStrategy": "Merge"}}})),
        UpdateCluster,
    ),
    "an accounting database is called for, and HyperPod looks at it": (
        under(SLURM, ACCOUNTS, **CALLED, arrivals=Arrivals()),
        Wait,
    ),
    "an accounting database is called for, and HyperPod cannot use it": (
        under(SLURM, ACCOUNTS, **CALLED, arrivals=Arrivals(failures=[NO_DATABASE])),
        Fail,
    ),
    "an accounting database is called for, and is there": (
        under(
            {"Orchestrator": {"Slurm": {"AccountingDatabase": USED}}},
            ACCOUNTS,
            **CALLED,
            arrivals=Arrivals(),
        ),
        Done,
    ),
    "an accounting database is called for, and nothing else is waited for": (
        under(
            SLURM,
            replace(ACCOUNTS, wanted=replace(ACCOUNTS.wanted, wait_for="in_service")),
            **CALLED,
            arrivals=Arrivals(),
        ),
        Wait,
    ),
    "an accounting database is called for, and HyperPod looks at it for too long": (
        under(SLURM, replace(ACCOUNTS, sent_at=NOW - 60 * MINUTE), **CALLED, arrivals=Arrivals()),
        Done,
    ),
    "an accounting database of before fails": (
        updated(arrivals=Arrivals(failures=[NO_DATABASE])),
        Wait,
    ),
    "the latest AMI is asked for": (look(LATEST_AMI, "InService"), UpdateSoftware),
    "the latest AMI is asked for, and the update before it was taken back": (
        look(request("Update", SoftwareUpdate="2026-11"), "InService", UPDATED),
        Fail,
    ),
    "the latest AMI is called for, and its group gets it": (
        look(LATEST_AMI, "InService", PATCHED, workers={"SoftwareUpdateStatus": "InProgress"}),
        AskNodes,
    ),
    "the latest AMI is called for, which does not show yet": (
        look(
            LATEST_AMI,
            "InService",
            PATCHED.calling(replace(PATCHED.calls[-1], images={"workers": [None] * 5})),
        ),
        Wait,
    ),
    "another stack's cluster": (look(UPDATE, "InService", stack_id=OTHER_STACK_ID), Refuse),
    "nobody's cluster": (look(UPDATE, "InService", tags={}), Refuse),
    "a cluster that lost its tags, and is noted": (
        look(UPDATE_BEGINS, "InService", replace(OWN, arn=ARN), tags={}),
        Tag,
    ),
    "a cluster that is so young that its tags may not show": (
        look(
            CREATE,
            "Creating",
            tags={},
            shown={"CreationTime": datetime.fromtimestamp(NOW - 1, tz=UTC)},
        ),
        Wait,
    ),
    "a former stack's cluster": (look(UPDATE_BEGINS, "InService", stack_id=FORMER), Tag),
    "an update begins": (look(UPDATE_BEGINS, "InService"), UpdateCluster),
    "an update begins, and a call of before may not show yet": (
        look(UPDATE_BEGINS, "InService", HIDDEN),
        Wait,
    ),
    "a call is left": (look(UPDATE, "InService"), UpdateCluster),
    "a call is left, and the cluster is busy": (look(UPDATE, "Updating"), Wait),
    "a call is left, and the cluster is busy for too long": (look(LATE_UPDATE, "Updating"), Fail),
    "a call is left, and the cluster rolls back": (look(UPDATE, "RollingBack"), Wait),
    "HyperPod never makes the change": (look(MOVES, "InService", shown=ELSEWHERE), Refuse),
    "updated, and busy with it": (look(UPDATE, "Updating", UPDATED), Wait),
    "updated, and no end is waited for": (
        look(request("Update", WaitFor="accepted"), "Updating", UPDATED),
        Done,
    ),
    "updated, and rolls back": (look(UPDATE, "RollingBack", UPDATED), Fail),
    "updated, and taken back": (look(UPDATE, "InService", UPDATED), Fail),
    "updated so lately that it may not show": (
        look(UPDATE, "InService", OWN.calling(JUST_CALLED)),
        Wait,
    ),
    "updated, and the tags differ": (
        look(UPDATE, "InService", UPDATED, count=2, tags={**look(UPDATE, "x").tags, "team": "x"}),
        Tag,
    ),
    "updated": (updated(), AskNodes),
    "updated, and no node is waited for": (updated(request("Update", WaitFor="in_service")), Done),
    "updated, and the nodes are there": (updated(arrivals=RUNNING), Done),
    "updated, and the nodes come": (updated(arrivals=Arrivals(nodes=[])), Wait),
    "updated, and the nodes do not come": (
        updated(LATE_UPDATE, arrivals=Arrivals(nodes=[])),
        Done,
    ),
    "updated, and the nodes that have to come do not": (
        updated(STRICT, arrivals=Arrivals(nodes=[])),
        Fail,
    ),
    "updated, and the script fails": (updated(arrivals=BROKEN), Fail),
    "a creation adopts a former stack's cluster": (look(CREATE, "InService"), UpdateCluster),
    "created, and not ready yet": (look(CREATE, "Creating", MADE), Wait),
    "created": (look(CREATE, "InService", MADE), AskNodes),
    "created, and failed": (look(CREATE, "Failed", MADE), Fail),
    "created, and deleted meanwhile": (look(CREATE, "Deleting", MADE), Fail),
    "never worked": (look(UPDATE, "Failed"), Delete),
    "worked once, and an update begins": (
        look(UPDATE_BEGINS, "Failed", **SUCCEEDED),
        UpdateCluster,
    ),
    "worked once, and failed": (look(UPDATE, "Failed", **SUCCEEDED), Fail),
    "worked once, failed, and is just updated": (
        look(UPDATE, "Failed", OWN.calling(JUST_CALLED), **SUCCEEDED),
        Wait,
    ),
    "worked once, failed, and is to be created": (look(CREATE, "Failed", **SUCCEEDED), Refuse),
    "works, and is to be created": (look(CREATE, "InService", **SUCCEEDED), Tag),
    "works elsewhere, and is to be created": (
        look(CREATE, "InService", shown=ELSEWHERE, **SUCCEEDED),
        Refuse,
    ),
    "works elsewhere after it was late, and is to be created": (
        look(CREATE, "InService", shown=ELSEWHERE, **CREATE_FAILED),
        Delete,
    ),
    "is busy, and is to be created": (look(CREATE, "Updating", **SUCCEEDED), Wait),
    "is busy for too long, and is to be created": (
        look(LATE_CREATE, "Updating", **SUCCEEDED),
        Fail,
    ),
    "is being deleted": (look(UPDATE, "Deleting"), Wait),
    "is being deleted for too long": (look(LATE_UPDATE, "Deleting"), Fail),
    "the journal is gone": (look(UPDATE, "InService", has_journal=False), Refuse),
    "rollback: the journal is gone": (look(ROLLBACK, "InService", has_journal=False), Done),
    "rollback: no cluster": (look(ROLLBACK, notes=BACK), Done),
    "rollback: no cluster that shows so soon": (
        look(ROLLBACK, notes=replace(BACK, former=called(notes.CREATE, minutes=0))),
        Wait,
    ),
    "rollback: another stack's cluster": (
        look(ROLLBACK, "Failed", BACK, stack_id=OTHER_STACK_ID),
        Done,
    ),
    "rollback: of another name": (look(replace(ROLLBACK, renames=True), "InService", BACK), Done),
    "rollback: failed": (look(ROLLBACK, "Failed", BACK), Done),
    "rollback: begins, worked once, failed": (
        look(replace(ROLLBACK, waits=False), "Failed", BACK, **SUCCEEDED),
        UpdateCluster,
    ),
    "rollback: begins, and the call that it takes back may not show yet": (
        look(replace(ROLLBACK, waits=False), "InService", replace(BACK, former=JUST_CALLED)),
        Wait,
    ),
    "rollback: a call is left": (look(ROLLBACK, "InService", BACK), UpdateCluster),
    "rollback: is being deleted": (look(ROLLBACK, "Deleting", BACK), Wait),
    "rollback: is being deleted for longer than an update waits": (
        look(replace(ROLLBACK, sent_at=NOW - 52 * MINUTE), "Deleting", BACK),
        Wait,
    ),
    "rollback: is being deleted, out of time": (look(LATE_BACK, "Deleting", BACK), Done),
    "rollback: out of time": (look(LATE_BACK, "Updating", BACK), Done),
    "delete: no cluster": (look(DELETE), Done),
    "delete: another stack's cluster": (look(DELETE, "InService", stack_id=OTHER_STACK_ID), Done),
    "delete: nobody's cluster": (look(DELETE, "InService", tags={}), Refuse),
    "delete: tags may not show yet": (
        look(request("Delete", minutes=1), "InService", tags={}),
        Wait,
    ),
    "delete: whatever its status, and its journal's": (
        look(DELETE, "Updating", has_journal=False),
        Delete,
    ),
    "delete: perhaps taken over, in a rollback without the journal": (
        look(TURNED, "InService", has_journal=False),
        Refuse,
    ),
    "delete: is being deleted": (look(DELETE, "Deleting"), Wait),
    "delete: is being deleted for too long": (
        look(request("Delete", minutes=60), "Deleting"),
        Fail,
    ),
    "delete: a failed creation is kept": (look(TURNED, "Failed"), Refuse),
    "delete: a failed creation, with the stack": (look(DELETE_BEGINS, "Failed"), Delete),
    "delete: a failed creation, perhaps in a rollback": (look(UNKNOWN, "Failed"), Refuse),
    "delete: worked before the stack was there": (
        look(DELETE_BEGINS, "InService", **ADOPTED),
        Delete,
    ),
    "delete: worked before the stack was there, which rolls back": (
        look(TURNED, "InService", **ADOPTED),
        Done,
    ),
    "delete: called for, and not shown yet": (look(DELETE, "InService", DELETED), Delete),
    "delete: failed just before the call": (
        look(DELETE, "Failed", OWN.calling(called(notes.DELETE, minutes=0))),
        Wait,
    ),
    "delete: failed after the call": (look(DELETE, "Failed", DELETED), Fail),
}


@pytest.mark.parametrize(("seen", "step"), STEPS.values(), ids=STEPS)
def test_decide(seen: Look, step: type) -> None:
    assert type(decide(seen)) is step


def test_each_row_is_reached() -> None:
    every = {id(row): row[0] for _, rows in STATES for row in rows}
    every |= {id(state): state[0] for state in STATES}
    for seen, _ in STEPS.values():
        state = next(state for state in STATES if state[0](seen))
        row = next(row for row in state[1] if row[0](seen))
        every.pop(id(state), None)
        every.pop(id(row), None)
    assert [holds.__name__ for holds in every.values()] == []


@pytest.mark.parametrize("case", [case for case, (_, step) in STEPS.items() if step is Fail])
def test_only_a_cluster_that_failed_as_it_was_created_is_noted_as_such(case: str) -> None:
    step = decide(STEPS[case][0])
    assert isinstance(step, Fail)
    assert step.of_creation is (case == "created, and failed")


@pytest.mark.parametrize("seen", [look(CREATE_BEGINS, "InService", BEFORE, stack_id=FORMER)])
def test_a_former_stacks_working_cluster_is_adopted_though_no_note_says_that_it_worked(
    seen: Look,
) -> None:
    step = decide(seen)
    assert isinstance(step, Tag)
    assert step.notes is not None and step.notes.creation == notes.ADOPTED


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
