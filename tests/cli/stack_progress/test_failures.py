"""The cause of a failed operation comes first, without CloudFormation's words around it."""

import pytest

from hyperpod_cli.aws.stack_events import StackEvent
from hyperpod_cli.stack_progress.failures import failures_of, is_cancelled, plain, stuck_resources
from tests.support.stack_events import event, stack_id

NAME = "ml-hyperpod"
NESTED = "AWS::CloudFormation::Stack"
LOGS = "/aws/lambda/ml-platform-Provisioner-IsComplete"

# What CloudFormation says, and what is left of it. The words around are those of registry types,
# https://github.com/aws-cloudformation/cloudformation-cli-java-plugin, of custom resources, and of
# CDK's provider framework (aws-cdk-lib, custom-resources/lib/provider-framework/runtime).
REASONS = {
    'Resource handler returned message: "The maximum number of VPCs has been reached. (Service: '
    'Ec2, Status Code: 400, Request ID: 5c1f-1) (SDK Attempt Count: 1)" (RequestToken: 1-2, '
    "HandlerErrorCode: ServiceLimitExceeded)": "The maximum number of VPCs has been reached.",
    'Resource handler returned message: "Model validation failed (#/Name: \\"a (b)\\" is '
    'wrong)" (RequestToken: 1-2, HandlerErrorCode: InvalidRequest)': (
        'Model validation failed (#/Name: \\"a (b)\\" is wrong)'
    ),
    "Received response status [FAILED] from custom resource. Message returned: CarriedFailure: "
    f"No capacity. Try again later.\n\nLogs: {LOGS}\n\n    at f (/var/task/framework.js:2:6) "
    "(RequestId: 1-2)": "No capacity. Try again later.",
    "Received response status [FAILED] from custom resource. Message returned: Error: a\nb": "a\nb",
    "ml-eks already exists in stack arn:aws:cloudformation:x": (
        "ml-eks already exists in stack arn:aws:cloudformation:x"
    ),
    "": "CloudFormation gives no reason",
}


@pytest.mark.parametrize("reason", REASONS)
def test_a_reason_is_told_without_what_surrounds_it(reason: str) -> None:
    message, group = plain(reason)
    assert message == REASONS[reason]
    assert group == (LOGS if LOGS in reason else None)


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
    assert [(each.stack, each.logical_id, each.message) for each in failures_of(events)] == [
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
    assert [each.logical_id for each in told] == ["Vpc"]


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
    assert (cause.stack, cause.logical_id, cause.message) == (NAME, "Vpc", "too many")
    (cause,) = failures_of({NAME: [outer]})
    assert cause.logical_id == "Inner"


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
