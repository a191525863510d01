"""What AWS does not document about HyperPod, to be tried either way."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal


@dataclass(frozen=True, slots=True)
class Unknowns:
    """One of the possible answers to each question.

    Attributes:
        left_out_groups: What becomes of an instance group that UpdateCluster does not name. The API
            reference has InstanceGroupsToDelete, which suggests `kept`; it does not say so.
            With `removed`, an update without any instance group removes all of them.
        tag_lag: Seconds until ListTags shows what CreateCluster, AddTags and DeleteTags did.
    """

    left_out_groups: Literal["kept", "removed"] = "kept"
    tag_lag: float = 0.0
