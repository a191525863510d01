"""Whether the topic that a configuration names can get messages."""

from hyperpod_cdk import Config
from hyperpod_cdk.schema.errors import KeyPath, error
from hyperpod_cli.aws.session import answer_of
from hyperpod_cli.inspect.preflight.validator import Phase, Problems, Target, validator

_PATH: KeyPath = ("observability", "notifications", "topic_arn")


@validator(phase=Phase.EXISTING_RESOURCES, iam=["sns:GetTopicAttributes"])
def topic(config: Config, target: Target) -> Problems:
    """Your SNS topic does not exist.

    No one would be told of anything; e-mail addresses could not subscribe.

    Keys: observability.notifications.topic_arn

    [SNS](https://docs.aws.amazon.com/sns/latest/api/API_Publish.html)
    """
    notifications = config.observability.notifications
    if notifications is None or notifications.topic_arn is None:
        return
    arn = notifications.topic_arn
    command = f"aws sns get-topic-attributes --topic-arn {arn} --region {target.region}"
    if arn.split(":")[3] != target.region:
        message = f"must be a topic of {target.region}, where the deployment is"
        yield error(_PATH, arn, message), command
    elif answer_of(target.client("sns").get_topic_attributes, "NotFound", TopicArn=arn) is None:
        message = "does not exist; correct it, or leave it out and a topic is made"
        yield error(_PATH, arn, message), command
