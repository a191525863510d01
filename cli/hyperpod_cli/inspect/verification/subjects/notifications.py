"""Who gets the messages of a deployment."""

from hyperpod_cli.aws.session import listed
from hyperpod_cli.inspect.verification.check import Checks, LiveDeployment, Phase, checked, subject


@subject(phase=Phase.DATA, iam=["sns:ListSubscriptionsByTopic"], of_hyperpod=True)
def notifications(deployment: LiveDeployment) -> Checks:
    """Each address of `notifications.emails` has confirmed its subscription to the topic."""
    section = deployment.config.observability.notifications
    if section is None or not section.emails:
        return
    topic = deployment.outputs_of("observability")["NotificationTopicArn"]
    subscriptions = listed(
        deployment.client("sns"), "list_subscriptions_by_topic", "Subscriptions", TopicArn=topic
    )
    # Until then, AWS writes PendingConfirmation where the ARN will be.
    confirmed = {
        each["Endpoint"] for each in subscriptions if each["SubscriptionArn"].startswith("arn:")
    }
    yield checked(
        f"aws sns list-subscriptions-by-topic --topic-arn {topic}: every address is confirmed",
        problem=[address for address in section.emails if address not in confirmed],
        words="not confirmed: {}",
        advice="Open the link in the email of AWS Notifications. After two days it is of no use: "
        f"`aws sns subscribe --topic-arn {topic} --protocol email --notification-endpoint "
        "ADDRESS` sends another",
    )
