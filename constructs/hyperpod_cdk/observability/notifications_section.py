"""The `observability.notifications` section: who is told what happens to the cluster."""

from typing import Annotated

from pydantic import Field

from hyperpod_cdk.schema.arns import SnsTopicArn
from hyperpod_cdk.schema.limits import Between, EachOnce, EmailAddress, Matching
from hyperpod_cdk.schema.section import Listed, Section, Task

# https://docs.aws.amazon.com/chatbot/latest/APIReference/API_SlackChannelConfiguration.html allows
# any letters; Slack's own begin so: https://api.slack.com/tutorials/tracks/understanding-oauth-scopes-bot
SlackWorkspaceId = Annotated[
    str,
    Matching(
        pattern=r"T[0-9A-Z]{8,254}",
        rule="must be the ID of a Slack workspace such as T0123456789, as its address in a browser "
        "has it",
    ),
]
SlackChannelId = Annotated[
    str,
    Matching(
        pattern=r"[CG][0-9A-Z]{8,254}",
        rule="must be the ID of a Slack channel such as C0123456789, at the end of the channel's "
        "details; its name is none",
    ),
]
Minutes = Annotated[int, Between(10, 24 * 60)]


class SlackConfig(Section):
    """A Slack channel that Amazon Q Developer in chat applications posts messages in."""

    workspace_id: SlackWorkspaceId
    """The workspace, which an administrator has connected once in the console of Amazon Q Developer
    in chat applications."""

    channel_id: SlackChannelId
    """The channel. Into a private one, invite @Amazon Q."""


class NotificationsConfig(Section):
    """An SNS topic that gets what happens to the cluster, each fault once, with its cause."""

    emails: Annotated[
        Listed[EmailAddress],
        EachOnce(),
        Field(examples=[["ml-platform@example.com"]]),
        Task("get messages when something fails"),
    ] = ()
    """Who gets an e-mail of each message. Each must confirm the subscription once. Default:
    none."""

    slack: Annotated[
        SlackConfig | None,
        Field(examples=[{"workspace_id": "T0123456789", "channel_id": "C0123456789"}]),
    ] = None
    """A Slack channel that gets each message. Default: none."""

    topic_arn: SnsTopicArn | None = None
    """A topic of yours in the same region that gets the messages. Default: the deployment makes
    one."""

    patience_minutes: Annotated[Minutes, Field(examples=[120])] = 60
    """After how many minutes a message is sent about missing nodes of which no event has said
    why, and about a faulty node that is still there. 10 to 1440. Default: 60."""
