"""The topic, who reads it, and what may publish to it, as CloudFormation sees them."""

from typing import Any

import aws_cdk as cdk
import pytest
from syrupy.assertion import SnapshotAssertion

from hyperpod_cdk import Notifications, NotificationsConfig
from tests.constructs.conftest import View
from tests.support.configs import default_document
from tests.support.refusals import lines_for
from tests.support.template_view import TemplateView

_MINE = "arn:aws:sns:us-west-2:111122223333:ml-platform"
_SLACK = {"workspace_id": "T0123456789", "channel_id": "C0123456789"}


def _made(stack: cdk.Stack, view: View, **section: Any) -> TemplateView:
    Notifications(
        stack,
        "Notifications",
        notifications=NotificationsConfig(**section),
        cluster_name="ml-cluster",
        training_plan_arns=["p5-plan"],
    )
    return view()


def test_a_topic_of_ones_own_gets_messages_and_keeps_its_policy(
    stack: cdk.Stack, view: View
) -> None:
    made = _made(stack, view, topic_arn=_MINE, emails=["a@example.com"], slack=_SLACK)
    assert not made.ids("AWS::SNS::Topic") + made.ids("AWS::SNS::TopicPolicy")
    assert not made.ids("AWS::KMS::Key")
    function = made.one("AWS::Lambda::Function")
    assert function["Environment"]["Variables"]["TOPIC_ARN"] == _MINE
    assert made.one("AWS::SNS::Subscription")["TopicArn"] == _MINE
    assert made.one("AWS::Chatbot::SlackChannelConfiguration")["SnsTopicArns"] == [_MINE]
    alarm = made.one("AWS::CloudWatch::Alarm")
    assert (alarm["AlarmActions"], alarm["Threshold"]) == ([_MINE], 1)


def test_with_slurm_the_function_reads_the_log_of_the_nodes(stack: cdk.Stack, view: View) -> None:
    Notifications(
        stack,
        "Notifications",
        notifications=NotificationsConfig(topic_arn=_MINE),
        cluster_name="ml-cluster",
        on_slurm=True,
    )
    made = view()
    statement = made.statement("ReadFaultsOfNodes")
    logs = "/aws/sagemaker/Clusters/ml-cluster/"
    function = made.one("AWS::Lambda::Function")
    assert function["Environment"]["Variables"]["HEALTH_LOGS"] == logs
    assert statement["Action"] == "logs:FilterLogEvents"
    assert f":log-group:{logs}*" in str(statement["Resource"])


@pytest.mark.parametrize(
    ("section", "place"),
    [
        (
            {"topic_arn": "arn:aws:sns:eu-west-1:111122223333:mine"},
            "observability.notifications.topic_arn",
        ),
        ({"topic_arn": f"{_MINE}.fifo"}, "notifications.topic_arn"),
        ({"slack": {**_SLACK, "channel_id": "#ml"}}, "slack.channel_id"),
        ({"slack": {**_SLACK, "workspace_id": "mine"}}, "slack.workspace_id"),
        ({"patience_minutes": 5}, "observability.notifications.patience_minutes"),
        ({"emails": ["nobody"]}, "observability.notifications.emails"),
        ({"emails": ["a@example.com"] * 2}, "emails[1]"),
    ],
)
def test_what_cannot_be_told_is_refused_in_one_line(
    section: dict[str, Any], place: str, snapshot: SnapshotAssertion
) -> None:
    document = default_document() | {"observability": {"notifications": section}}
    (line,) = lines_for(document)

    assert place in line.partition(": ")[0]
    assert line == snapshot
