"""EventBridge takes SageMaker's events, and calls functions as AWS does; SNS notes what it sends.

https://docs.aws.amazon.com/eventbridge/latest/APIReference/API_PutEventsRequestEntry.html
https://docs.aws.amazon.com/lambda/latest/dg/invocation-async-error-handling.html
"""

import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

from hyperpod_emulator.aws.cloudformation.resource_type import (
    Created,
    Properties,
    ResourceType,
    check_creation,
)
from hyperpod_emulator.aws.ministack import eventbridge, get_account_id, lambda_svc, sns, wrap
from hyperpod_emulator.aws.refused import Refused
from hyperpod_emulator.aws.settings import SAGEMAKER_EVENTS, own_settings

_OF_SAGEMAKER = "aws.sagemaker"


def install() -> None:
    """Make events of the simulated SageMaker its own, and note messages: a JSON object a line."""

    def put_events(
        put: Callable[..., Any], data: dict[str, Any], allow_aws_source: bool = False
    ) -> Any:  # noqa: ANN401 - as MiniStack's
        entries = data.get("Entries", [])
        if entries and all(each.get("Source") == SAGEMAKER_EVENTS for each in entries):
            own = [{**each, "Source": _OF_SAGEMAKER} for each in entries]
            return put({**data, "Entries": own}, allow_aws_source=True)
        return put(data, allow_aws_source)

    def invoke(arn: str, payload: str) -> None:
        # Lambda repeats what fails, twice; MiniStack's EventBridge does not let it.
        function, config, _name = lambda_svc._get_func_record_for_ref(arn)
        if function and config:
            record = lambda_svc._execution_record_for_config(function, config)
            lambda_svc.invoke_async_with_retry(record, json.loads(payload))

    wrap(eventbridge, "_put_events", put_events)
    eventbridge._dispatch_to_lambda = invoke
    check_creation("AWS::SNS::Subscription", _require_topic)
    if own_settings().messages:
        _note_messages(Path(own_settings().messages))


def _require_topic(properties: Properties) -> None:
    """Have a subscription to a topic that is not there fail, as SNS's.

    https://docs.aws.amazon.com/sns/latest/api/API_Subscribe.html
    """
    if sns._topic_by_arn_any_scope(properties["TopicArn"]) is None:
        raise Refused("NotFound: Topic does not exist")


def _note_messages(file: Path) -> None:
    def publish_and_note(
        publish: Callable[..., Any],
        topic_arn: str,
        message: Any,  # noqa: ANN401 - as MiniStack's
        *rest: Any,
        **named: Any,
    ) -> Any:  # noqa: ANN401 - as MiniStack's
        published = publish(topic_arn, message, *rest, **named)
        attributes = named.get("message_attributes") or {}
        line = {
            "topic": topic_arn,
            "subject": rest[0] if rest else named.get("subject", ""),
            "message": message,
            "attributes": {
                name: value.get("StringValue", value.get("Value", ""))
                for name, value in attributes.items()
            },
        }
        with file.open("a", encoding="utf-8") as log:
            log.write(f"{json.dumps(line)}\n")
        return published

    wrap(sns, "publish_internal", publish_and_note)


def _create(properties: Properties) -> Created:
    name = properties["ConfigurationName"]
    arn = f"arn:aws:chatbot::{get_account_id()}:chat-configuration/slack-channel/{name}"
    return arn, {"Arn": arn}


SLACK_CHANNEL = ResourceType(
    name="AWS::Chatbot::SlackChannelConfiguration",
    create=_create,
    update=lambda _id, _old, new: _create(new),
)
"""Nothing is posted anywhere."""
