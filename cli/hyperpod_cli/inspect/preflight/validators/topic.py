"""Whether the topic that a configuration names can get messages."""

from hyperpod_cdk import Config
from hyperpod_cdk.schema.errors import error
from hyperpod_cdk.schema.named_resources import named_resources
from hyperpod_cli.aws.session import answer_of
from hyperpod_cli.inspect.preflight.validator import Phase, Problems, Target, validator


@validator(phase=Phase.EXISTING_RESOURCES, names=("SNS topic",), iam=["sns:GetTopicAttributes"])
def topic(config: Config, target: Target) -> Problems:
    """Your SNS topic does not exist.

    No one would be told of anything; e-mail addresses could not subscribe.

    [SNS](https://docs.aws.amazon.com/sns/latest/api/API_Publish.html)
    """
    for named in named_resources(config, "SNS topic"):
        arn = named.value
        command = f"aws sns get-topic-attributes --topic-arn {arn} --region {target.region}"
        if arn.split(":")[3] != target.region:
            message = f"must be a topic of {target.region}, where the deployment is"
            yield error(named.path, arn, message), command
        elif answer_of(target.client("sns").get_topic_attributes, "NotFound", TopicArn=arn) is None:
            message = "does not exist; correct it, or leave it out and a topic is made"
            yield error(named.path, arn, message), command
