"""The `observability.notifications` section: who is told what happens to the cluster."""

from typing import Annotated

from pydantic import Field

from hyperpod_cdk.schema.limits import EmailAddress
from hyperpod_cdk.schema.section import Listed, Section, Task


class NotificationsConfig(Section):
    """An SNS topic that gets what happens to the cluster, each fault once, with its cause."""

    emails: Annotated[
        Listed[EmailAddress],
        Field(examples=[["ml-platform@example.com"]]),
        Task("be told when something fails"),
    ] = ()
    """Who gets an e-mail of each message. Each must confirm the subscription once. Default:
    nobody."""
