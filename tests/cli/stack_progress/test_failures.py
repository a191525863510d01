"""Why a deployment failed: events, causes, and values that cannot change."""

from pathlib import Path

import aws_cdk as cdk
import botocore.session
import pytest
from aws_cdk.assertions import Template
from botocore.exceptions import ClientError
from syrupy.assertion import SnapshotAssertion

from hyperpod_cdk.schema.errors import ConfigError
from hyperpod_cdk.synthesis.refusals import FixedValue
from hyperpod_cli.aws.stack_events import StackEvent, StackReader, nested_events
from hyperpod_cli.stack_progress.failures import (
    Situation,
    failures_of,
    interrupted,
    is_cancelled,
    next_step,
    plain,
    stuck_resources,
)
from hyperpod_cli.stack_progress.fixed_values import changes, refuse_changes
from tests.conftest import Raises
from tests.support.stack_events import CloudFormation, event, names, refused, stack_id

NAME = "ml-hyperpod"
NESTED = "AWS::CloudFormation::Stack"
LOGS = "/aws/lambda/ml-platform-Provisioner-IsComplete"

# What CloudFormation says. The words around are those of registry types,
# https://github.com/aws-cloudformation/cloudformation-cli-java-plugin, of custom resources, and of
# CDK's provider framework (aws-cdk-lib, custom-resources/lib/provider-framework/runtime).
REASONS = (
    'Resource handler returned message: "The maximum number of VPCs has been reached. (Service: '
    'Ec2, Status Code: 400, Request ID: 5c1f-1) (SDK Attempt Count: 1)" (RequestToken: 1-2, '
    "HandlerErrorCode: ServiceLimitExceeded)",
    'Resource handler returned message: "Model validation failed (#/Name: \\"a (b)\\" is '
    'wrong)" (RequestToken: 1-2, HandlerErrorCode: InvalidRequest)',
    "Received response status [FAILED] from custom resource. Message returned: CarriedFailure: "
    f"No capacity. Try again later.\n\nLogs: {LOGS}\n\n    at f (/var/task/framework.js:2:6) "
    "(RequestId: 1-2)",
    "Received response status [FAILED] from custom resource. Message returned: Error: a\nb",
    "ml-eks already exists in stack arn:aws:cloudformation:x",
    "",
)


def test_a_reason_is_told_without_what_surrounds_it(snapshot: SnapshotAssertion) -> None:
    assert [plain(reason) for reason in REASONS] == snapshot


_AROUND = (
    'Resource handler returned message: "[{}] (Service: null, Status Code: 0, Request ID: null)" '
    "(RequestToken: 1-2, HandlerErrorCode: GeneralServiceException)"
)
_LAUNCH = (
    "Issue(Code=AsgInstanceLaunchFailures, Message=Could not launch {}. Launching EC2 instance "
    "failed., ResourceIds=[eks-gpu-1])"
)
_JOIN = "Issue(Code=NodeCreationFailure, Message=Instances failed to join, ResourceIds=[{}])"
# As https://github.com/aws-samples/amazon-eks-ami-rhel/issues/11 has them, the last one as
# https://github.com/eksctl-io/eksctl/issues/4732 does.
NODE_GROUPS = {
    "capacity": _AROUND.format(
        _LAUNCH.format("On-Demand Instances. InsufficientInstanceCapacity - None (us-west-2b)")
        + f", {_JOIN.format('DUMMY_1')}"
    ),
    "Spot": _AROUND.format(_LAUNCH.format("Spot Instances. UnfulfillableCapacity - Unable")),
    "quota": _AROUND.format(_LAUNCH.format("On-Demand Instances. VcpuLimitExceeded - More")),
    "join": _AROUND.format(_JOIN.format("i-1, i-2")),
    "IamNodeRoleNotFound": _AROUND.format(
        "Issue(Code=IamNodeRoleNotFound, Message=Gone, ResourceIds=[])"
    ),
    "reservation": "Nodegroup a failed to stabilize: [{Code: AsgInstanceLaunchFailures,Message: "
    "ReservationCapacityExceeded - No,ResourceIds: [eks-a]}]",
    # https://github.com/aws/containers-roadmap/issues/1282
    "eviction in an update": "Update failed due to [{ErrorCode: PodEvictionFailure,ErrorMessage: "
    "Reached max retries while trying to evict pods from nodes in node group gpu,ResourceIds: "
    "[ip-10-1-0-1.ec2.internal]}]",
    "eviction": _AROUND.format(
        "ErrorDetail(ErrorCode=PodEvictionFailure, ErrorMessage=Reached max retries while "
        "trying to evict pods from nodes in node group gpu, ResourceIds=[ip-10-1-0-1])"
    ),
    "no issue": 'Resource handler returned message: "Not valid. (Service: Eks, Status Code: 400, '
    'Request ID: 1)" (RequestToken: 1-2, HandlerErrorCode: InvalidRequest)',
}


@pytest.mark.parametrize("reason", NODE_GROUPS.values(), ids=[*NODE_GROUPS])
def test_the_issues_of_a_node_group_are_told_as_cause_and_next_step(
    reason: str, snapshot: SnapshotAssertion
) -> None:
    of_group = failed("Group", 1, reason, type="AWS::EKS::Nodegroup")
    [failure] = failures_of({"ml-node-groups": [of_group]})
    assert failure.message == snapshot


@pytest.mark.parametrize(
    "cause",
    [
        "UnfulfillableCapacity - No",
        "InsufficientInstanceCapacity - No",
        "Not supported in your requested Availability Zone",
        "InsufficientFreeAddresses - No",
        "VcpuLimitExceeded - More",
        "New - It is new",
    ],
)
def test_a_group_that_stays_is_told_nothing_that_it_cannot_change(
    cause: str, snapshot: SnapshotAssertion
) -> None:
    reason = _AROUND.format(_LAUNCH.format(cause))
    group = event("Group", "UPDATE_FAILED", 1, reason=reason, type="AWS::EKS::Nodegroup")
    [failure] = failures_of({"ml-node-groups": [group]})
    assert failure.message == snapshot
    assert failure.message.endswith(" Deploy again then.")


def failed(logical_id: str, seconds: float, reason: str, **options: str) -> StackEvent:
    return event(logical_id, "CREATE_FAILED", seconds, reason=reason, **options)  # type: ignore[arg-type]


def test_the_first_cause_of_each_stack_is_told_the_earliest_first() -> None:
    events = {
        NAME: [
            event(NAME, "CREATE_IN_PROGRESS"),
            failed("Cluster", 9, "no capacity"),
            failed("Role", 9.1, "Resource creation cancelled"),
            failed("Other", 9.2, "Resource creation cancelled"),
            event(NAME, "ROLLBACK_IN_PROGRESS", 10, reason="The following resource(s) failed"),
            event("Role", "DELETE_FAILED", 11, reason="in use"),
        ],
        "ml-storage": [failed("Files", 5, "no address left", stack="ml-storage")],
        "ml-platform": [event("ml-platform", "CREATE_COMPLETE", stack="ml-platform")],
    }
    assert [(each.stack, each.event.logical_id, each.message) for each in failures_of(events)] == [
        ("ml-storage", "Files", "no address left"),
        (NAME, "Cluster", "no capacity"),
    ]


@pytest.mark.parametrize(
    "reason",
    [
        "Resource creation cancelled",
        "Resource update cancelled",
        "The following resource(s) failed to delete: [Vpc]. ",
    ],
)
def test_what_another_failure_stopped_is_no_cause(reason: str) -> None:
    assert failures_of({NAME: [failed("Vpc", 1, reason)]}) == []


def test_a_message_that_speaks_of_cancelling_is_a_cause() -> None:
    told = failures_of({NAME: [failed("Vpc", 1, "The order was cancelled by the service")]})
    assert [each.event.logical_id for each in told] == ["Vpc"]


def test_a_nested_stack_failed_for_what_is_in_it() -> None:
    inner = failed("Vpc", 1, "too many", stack="inner")
    outer = event(
        "Inner",
        "CREATE_FAILED",
        2,
        type=NESTED,
        physical_id=stack_id("inner"),
        reason="Embedded stack arn was not successfully created",
    )
    (cause,) = failures_of({NAME: [outer, inner]})
    assert (cause.stack, cause.event.logical_id, cause.message) == (NAME, "Vpc", "too many")
    (cause,) = failures_of({NAME: [outer]})
    assert cause.event.logical_id == "Inner"


def test_an_update_that_somebody_cancelled_has_no_cause() -> None:
    events = [
        event(NAME, "UPDATE_IN_PROGRESS"),
        failed("Vpc", 2, "Resource update cancelled"),
        event(NAME, "UPDATE_ROLLBACK_IN_PROGRESS", 1, reason="User Initiated"),
    ]
    assert is_cancelled(events)
    assert failures_of({NAME: events}) == []
    assert not is_cancelled(events[:2])


def test_what_a_rollback_could_not_undo_is_stuck() -> None:
    events = [
        event(NAME, "UPDATE_IN_PROGRESS"),
        event("Vpc", "UPDATE_FAILED", 1, reason="no"),
        event(NAME, "UPDATE_ROLLBACK_IN_PROGRESS", 2),
        event("Addon", "UPDATE_FAILED", 3, reason="not offered"),
        event("Role", "UPDATE_FAILED", 3, reason="throttled"),
        event("Role", "UPDATE_COMPLETE", 4),
        event(NAME, "UPDATE_ROLLBACK_FAILED", 5),
    ]
    assert stuck_resources(events) == ("Addon",)
    assert stuck_resources(events[:2]) == ()


AGAIN = "hyperpod-cdk deploy config/mine.yaml"
SERVICE = botocore.session.get_session().get_service_model("cloudformation")
STATUSES = SERVICE.shape_for("StackStatus").metadata["enum"]
WAITERS = (
    botocore.session.get_session()
    .create_client("cloudformation", region_name="us-west-2")
    .waiter_names
)


def at(status: str, *stuck: str, again: str = AGAIN) -> Situation:
    return Situation(
        stack="ml-hyperpod", region="us-west-2", status=status, again=again, stuck=stuck
    )


def aws(command: str) -> str:
    return f"aws cloudformation {command} --stack-name ml-hyperpod --region us-west-2"


@pytest.mark.parametrize("status", ["", *STATUSES])
def test_every_status_has_an_answer_that_can_be_run(status: str) -> None:
    step = next_step(at(status))
    assert "ml-hyperpod" in step.meaning
    assert step.meaning.endswith(".")
    assert step.commands[-1] == AGAIN
    for command in step.commands[:-1]:
        _, service, operation, *rest = command.split()
        waiter = rest[0].replace("-", "_")
        name = "".join(part.title() for part in operation.split("-"))
        known = waiter in WAITERS if operation == "wait" else name in SERVICE.operation_names
        assert (service, known) == ("cloudformation", True), command


@pytest.mark.parametrize(
    ("status", "stuck", "commands"),
    [
        ("ROLLBACK_COMPLETE", (), [AGAIN]),
        ("UPDATE_ROLLBACK_COMPLETE", (), [AGAIN]),
        (
            "UPDATE_ROLLBACK_FAILED",
            ("Addon",),
            [aws("continue-update-rollback"), aws("wait stack-rollback-complete"), AGAIN],
        ),
        ("UPDATE_FAILED", (), [aws("rollback-stack"), AGAIN]),
        ("DELETE_FAILED", (), [aws("delete-stack"), aws("wait stack-delete-complete"), AGAIN]),
        ("UPDATE_IN_PROGRESS", (), [aws("wait stack-update-complete"), AGAIN]),
        (
            "ROLLBACK_IN_PROGRESS",
            (),
            [f"{aws('describe-stacks')} --query 'Stacks[0].StackStatus'", AGAIN],
        ),
    ],
)
def test_a_status_says_what_to_run(
    status: str, stuck: tuple[str, ...], commands: list[str]
) -> None:
    step = next_step(at(status, *stuck))
    assert [*step.commands] == commands
    assert ("--resources-to-skip Addon" in step.meaning) == bool(stuck)


def test_a_deletion_that_failed_is_tried_again() -> None:
    step = next_step(at("DELETE_FAILED", "Cluster", again="hyperpod-cdk destroy"))
    assert step.meaning == "ml-hyperpod still has Cluster."
    assert [*step.commands] == ["hyperpod-cdk destroy"]


@pytest.mark.parametrize(
    ("status", "commands"),
    [
        ("", None),
        ("CREATE_COMPLETE", None),
        ("REVIEW_IN_PROGRESS", None),
        ("CREATE_IN_PROGRESS", [aws("wait stack-create-complete"), aws("delete-stack")]),
        ("UPDATE_IN_PROGRESS", [aws("wait stack-update-complete"), aws("cancel-update-stack")]),
        ("DELETE_IN_PROGRESS", [aws("wait stack-delete-complete")]),
    ],
)
def test_what_goes_on_after_an_interrupt_can_be_watched(
    status: str, commands: list[str] | None
) -> None:
    step = interrupted(at(status))
    assert (None if step is None else [*step.commands]) == commands


def begun(client: CloudFormation) -> StackReader:
    reader = StackReader(client=client, name=NAME)
    reader.begin()
    return reader


def test_a_stack_that_is_not_there_yet_has_no_event_and_then_all() -> None:
    client = CloudFormation()
    reader = begun(client)
    assert reader.read() == []
    client.add(event(NAME, "CREATE_IN_PROGRESS"), event("Vpc", "CREATE_IN_PROGRESS", 1))
    assert names(reader.read()) == [f"{NAME} CREATE_IN_PROGRESS", "Vpc CREATE_IN_PROGRESS"]


@pytest.mark.parametrize("new", [1, 3, 4, 10])
def test_what_happened_before_is_left_out_however_many_pages_follow(new: int) -> None:
    client = CloudFormation()
    client.add(*(event(f"Old{index}", "CREATE_COMPLETE", index) for index in range(10)))
    reader = begun(client)
    client.add(*(event(f"New{index}", "UPDATE_COMPLETE", 20 + index) for index in range(new)))
    found = reader.read()
    assert [each.logical_id for each in found] == [f"New{index}" for index in range(new)]
    assert reader.read() == found


def test_only_the_latest_page_is_read_when_little_is_new() -> None:
    client = CloudFormation()
    reader = begun(client)
    client.add(*(event(f"New{index}", "CREATE_COMPLETE", index) for index in range(30)))
    reader.read()
    client.calls = 0
    client.add(event("Last", "CREATE_COMPLETE", 40))
    assert len(reader.read()) == 31
    assert client.calls == 1


def test_an_event_that_appears_behind_a_known_one_is_not_missed() -> None:
    client = CloudFormation()
    reader = begun(client)
    late = event("Late", "CREATE_COMPLETE", 1)
    client.add(event(NAME, "CREATE_IN_PROGRESS"), event("Early", "CREATE_COMPLETE", 2))
    reader.read()
    client.stacks[stack_id(NAME)].insert(1, late)
    assert [each.logical_id for each in reader.read()] == [NAME, "Late", "Early"]


def test_a_stack_is_followed_beyond_its_deletion() -> None:
    client = CloudFormation()
    client.add(event(NAME, "CREATE_COMPLETE"))
    reader = begun(client)
    client.add(event(NAME, "DELETE_IN_PROGRESS", 5))
    reader.read()
    client.add(event(NAME, "DELETE_COMPLETE", 9))
    del client.ids[NAME]
    assert names(reader.read()) == [f"{NAME} DELETE_IN_PROGRESS", f"{NAME} DELETE_COMPLETE"]


def test_a_stack_that_comes_back_with_another_id_begins_anew() -> None:
    client = CloudFormation()
    client.add(event(NAME, "ROLLBACK_COMPLETE"))
    reader = begun(client)
    client.add(event(NAME, "DELETE_COMPLETE", 5))
    reader.read()
    client.add(event(NAME, "CREATE_IN_PROGRESS", 9, number=2))
    assert names(reader.read()) == [f"{NAME} CREATE_IN_PROGRESS"]


def test_a_refusal_is_no_absence() -> None:
    client = CloudFormation(error=refused("AccessDenied"))
    with pytest.raises(ClientError):
        StackReader(client=client, name=NAME).begin()


def test_what_failed_in_a_nested_stack_is_found() -> None:
    client = CloudFormation()
    inner = {"stack": "inner", "type": "AWS::EC2::VPC"}
    client.add(event("Vpc", "CREATE_FAILED", 1, reason="too many", **inner))  # type: ignore[arg-type]
    nested = event(
        "Inner",
        "CREATE_FAILED",
        2,
        type="AWS::CloudFormation::Stack",
        physical_id=stack_id("inner"),
    )
    assert names(nested_events(client, [event(NAME, "CREATE_IN_PROGRESS"), nested])) == [
        "Vpc CREATE_FAILED"
    ]


@pytest.mark.parametrize(
    ("former", "wanted"),
    [
        ("10.1.0.0/16", "10.2.0.0/16"),
        (None, "10.2.0.0/16"),
        ("10.1.0.0/16", None),
        ("10.1.0.0/16", "10.1.0.0/16"),
    ],
)
def test_a_change_is_refused_with_line_key_and_former_value(
    tmp_path: Path, former: str | None, wanted: str | None, raises: Raises
) -> None:
    stack = cdk.Stack(
        cdk.App(builtin_cloud_formation_validation=False),
        "Stack",
        synthesizer=cdk.LegacyStackSynthesizer(),
    )
    key = ("network", "subnets", 0, "cidr")
    FixedValue(stack, "Cidr", key=key, value=wanted, reason="it is in use", instead="add one")
    template = Template.from_stack(stack).to_json()
    (name,) = template["Parameters"]
    config = tmp_path / "mine.yaml"
    config.write_text("network:\n  subnets:\n  - " + (f"cidr: {wanted}\n" if wanted else "{}\n"))
    found = [*changes(template, parameters={name: former or "none", "Other": "x"})]
    if former == wanted:
        assert found == []
        refuse_changes(found, config=config)
        return
    with raises(ConfigError):
        refuse_changes(found, config=config)
    assert [*changes(template, parameters={})] == []
