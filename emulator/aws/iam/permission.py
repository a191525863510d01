"""One thing that somebody must be allowed to do."""

from collections.abc import Mapping
from dataclasses import dataclass, field


@dataclass(frozen=True, slots=True, kw_only=True)
class Permission:
    """One thing the caller must be allowed to do.

    Attributes:
        action: IAM action.
        resource: ARN it is done to.
        context: Condition keys.
    """

    action: str
    resource: str
    context: Mapping[str, str | list[str]] = field(default_factory=dict)
