"""The claim: which request of CloudFormation has the cluster, as a tag on it.

CloudFormation can cancel an update and send its rollback while the waiter of the cancelled request
still polls. Each request writes its claim before its first change, and one that finds a later
claim, or itself among the former ones, does nothing any more.

Tags are read after a delay, so a claim that is older than a request's own means: not visible yet.
"""

import json
from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from typing import Any

from hyperpod_shared.owner import TAG_PREFIX, digest

REQUEST_TAG = f"{TAG_PREFIX}request"
"""The claim."""
CREATION_TAG = f"{TAG_PREFIX}creation"
"""What became of the creation, one of the following; there is none while it is unknown."""
SUCCEEDED, CREATE_FAILED = "succeeded", "failed"
ADOPTED = "adopted"
"""The cluster worked before the stack took it over, so that stack's rollback does not delete it."""

FOUND_GROUPS_TAG = f"{TAG_PREFIX}found-groups"
"""Groups that an update's template is the first to name, though the cluster has them: its rollback
leaves them there, with the number of nodes that they had."""

CREATE_KEY, UPDATE_KEY, DELETE_KEY = "create", "update", "delete"
"""How these calls are noted in a claim; those about AMIs have keys of their own."""

READ_LAG_SECONDS = 120.0
"""How long a read may miss a write; AWS names no limit. Longer costs a wait, shorter a mistake."""
_DIGITS = 16
# A tag's value has at most 256 characters (botocore, TagValue); twelve digits tell requests apart,
# and eight the groups of a cluster.
_MOST_CHARACTERS = 256
_GROUP_DIGITS = 8
_ALL_GROUPS = "all"
_FORMER_DIGITS = 12
_MOST_FORMER = 8
_FIRST_AFTER = 0.001
_YES = "y"


@dataclass(frozen=True, slots=True, kw_only=True)
class Claim:
    """One request's claim on a cluster.

    Attributes:
        request: Stands for the request's id.
        started_at: When the request began, in seconds since the epoch; claims are ordered by it.
        takes_back: Stands for the properties that the request takes back; empty if it is no
            rollback.
        last_call: The key of the last call that was made for the request.
        called_at: When that was, in seconds since the epoch.
        former: The requests that had the cluster before, newest first.
        asks: Stands for the properties that the request wants.
        undoes_calls: Whether the request that is taken back called HyperPod, as far as is known.
        leaves_groups: Whether a rollback had no time to remove the groups of the request that it
            takes back; it is handed on until an update removes them.
    """

    request: str
    started_at: float
    takes_back: str = ""
    last_call: str = ""
    called_at: float = 0.0
    former: tuple[str, ...] = ()
    asks: str = ""
    undoes_calls: bool = True
    leaves_groups: bool = False

    @classmethod
    def of(
        cls, request_id: str, *, started_at: float, asks: str = "", takes_back: str = ""
    ) -> "Claim":
        """Return the claim of a request that begins now."""
        return cls(
            request=digest(request_id)[:_DIGITS],
            started_at=round(started_at, 3),
            takes_back=takes_back,
            asks=asks,
        )

    @classmethod
    def parse(cls, text: str) -> "Claim | None":
        """Return the claim in a tag's value, or None if there is none."""
        try:
            request, started_at, takes_back, last_call, called_at, former, *rest = text.split(":")
            asks, undoes_calls, leaves_groups = rest
            return cls(
                request=request,
                started_at=float(started_at),
                takes_back=takes_back,
                last_call=last_call,
                called_at=float(called_at),
                former=tuple(former.split(".")) if former else (),
                asks=asks,
                undoes_calls=undoes_calls == _YES,
                leaves_groups=leaves_groups == _YES,
            )
        except ValueError:
            return None

    def __str__(self) -> str:
        return (
            f"{self.request}:{self.started_at:.3f}:{self.takes_back}:{self.last_call}:"
            f"{self.called_at:.3f}:{'.'.join(self.former)}:{self.asks}:"
            f"{_YES * self.undoes_calls}:{_YES * self.leaves_groups}"
        )

    @property
    def rolls_back(self) -> bool:
        """Whether the request takes back one that failed."""
        return bool(self.takes_back)

    @property
    def tag(self) -> dict[str, str]:
        """The claim as a tag."""
        return {REQUEST_TAG: str(self)}

    def over(self, visible: "Claim | None") -> "Claim":
        """Return this claim as it is written over the one that is visible.

        A new request is later than any that it finds, whatever the clocks of two functions say.
        """
        if visible is None or visible.request == self.request:
            return self
        return replace(
            self,
            started_at=max(self.started_at, round(visible.started_at + _FIRST_AFTER, 3)),
            former=(visible.request[:_FORMER_DIGITS], *visible.former)[:_MOST_FORMER],
            undoes_calls=self._undoes_calls_of(visible),
            leaves_groups=visible.leaves_groups and not visible.last_call,
        )

    def _undoes_calls_of(self, visible: "Claim") -> bool:
        if visible.takes_back == self.takes_back:  # an earlier rollback of the same request
            return visible.undoes_calls
        return bool(visible.last_call) or not self.follows(visible)

    def follows(self, visible: "Claim") -> bool:
        """Say whether the visible claim is that of the request that this one takes back."""
        return self.takes_back in {visible.asks, visible.takes_back}

    def is_former_in(self, visible: "Claim") -> bool:
        """Say whether the visible claim was written over this one."""
        return self.request[:_FORMER_DIGITS] in visible.former

    def is_before(self, visible: "Claim") -> bool:
        """Say whether the visible claim is another request's, and later."""
        return (visible.started_at, visible.request) > (self.started_at, self.request)

    @property
    def made_the_cluster(self) -> bool:
        """Whether the cluster is as the request made it."""
        return self.last_call == CREATE_KEY

    def is_fresh(self, now: float) -> bool:
        """Say whether the last call is so young that DescribeCluster may not show it yet."""
        return now < self.called_at + READ_LAG_SECONDS

    def after_call(self, key: str, *, now: float) -> "Claim":
        """Return the claim with a note of the call that was just made."""
        return replace(self, last_call=key, called_at=round(now, 3))


def properties_key(properties: Mapping[str, Any]) -> str:
    """Return what stands for a request's properties in a claim."""
    return digest(json.dumps(properties, sort_keys=True))[:_FORMER_DIGITS]


@dataclass(frozen=True, slots=True, kw_only=True)
class FoundGroups:
    """The groups that the tag notes.

    Attributes:
        counts: Numbers of nodes, by what stands for the group's name.
        are_all: Whether there were too many for a tag: every group may be one of them.
    """

    counts: Mapping[str, int] = field(default_factory=dict)
    are_all: bool = False

    @classmethod
    def of(cls, tags: Mapping[str, str]) -> "FoundGroups":
        """Return what a cluster's tags note."""
        value = tags.get(FOUND_GROUPS_TAG, "")
        pairs = (entry.split("-") for entry in value.split(".") if "-" in entry)
        return cls(counts={key: int(count) for key, count in pairs}, are_all=value == _ALL_GROUPS)

    def adding(self, counts: Mapping[str, int]) -> "FoundGroups":
        """Return these groups and others, by their names, with their numbers of nodes."""
        others = {_group_key(name): count for name, count in counts.items()}
        return replace(self, counts={**self.counts, **others})

    @property
    def tag(self) -> dict[str, str]:
        """The groups as a tag."""
        value = ".".join(f"{key}-{count}" for key, count in sorted(self.counts.items()))
        too_long = self.are_all or len(value) > _MOST_CHARACTERS
        return {FOUND_GROUPS_TAG: _ALL_GROUPS if too_long else value}

    def __contains__(self, name: str) -> bool:
        return self.are_all or _group_key(name) in self.counts

    def count_of(self, name: str) -> int | None:
        """Return how many nodes a group had; None if that is not noted."""
        return self.counts.get(_group_key(name))


def _group_key(name: str) -> str:
    return digest(name)[:_GROUP_DIGITS]


def visible_claim(tags: Mapping[str, str]) -> Claim | None:
    """Return the claim on a cluster, as far as its tags show."""
    return Claim.parse(tags.get(REQUEST_TAG, ""))
