"""The `observability` section: metrics, dashboards and messages, each by a switch."""

from typing import Annotated

from pydantic import Field

from hyperpod_cdk.observability.notifications_section import NotificationsConfig
from hyperpod_cdk.schema.section import Section, Task


class ObservabilityConfig(Section):
    """What a deployment shows of itself, and whom it tells."""

    notifications: Annotated[
        NotificationsConfig | None,
        Field(examples=[{}]),
        Task("be told when something fails"),
    ] = None
    """A topic for what happens to the cluster. Default: none."""
