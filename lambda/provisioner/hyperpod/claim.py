"""The claim: which request of CloudFormation has the cluster, as a tag on it.

Each request writes its claim before its first change: its rollback then knows what it called, and
its polls know that the tags show what it wrote. Whether it still has its turn, the stack's events
say (`framework.operation`).

Tags are read after a delay, so another request's claim may mean: the own one is not visible yet.
"""

import json
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field, replace
from typing import Any

from hyperpod_shared.clusters import Group
from hyperpod_shared.owner import TAG_PREFIX, digest

REQUEST_TAG = f"{TAG_PREFIX}request"
"""The claim."""
CALL_TAG = f"{TAG_PREFIX}call"
"""The last call that was made for a request: apart, so that the claim does not overwrite it when
`on_event` is delivered twice."""
CREATION_TAG = f"{TAG_PREFIX}creation"
"""What became of the creation, one of the following; there is none while it is unknown."""
SUCCEEDED, CREATE_FAILED = "succeeded", "failed"
ADOPTED = "adopted"
"""The cluster worked before the stack took it over, so that stack's rollback does not delete it."""

GROUPS_TAG = f"{TAG_PREFIX}groups"
"""Groups that an update's template is the first to name, though the cluster has them: its rollback
leaves them there, with the number of nodes that they had. And groups that the last request left
other than it was asked to: the next update sees to them."""

CREATE_KEY, UPDATE_KEY, DELETE_KEY = "create", "update", "delete"
"""How these calls are noted in a claim; those about AMIs have keys of their own."""
REFUSED_KEY = "refused"
"""How it is noted that a request is refused, and makes no call."""

READ_LAG_SECONDS = 120.0
"""How long a read may miss a write; AWS names no limit. Longer costs a wait, shorter a mistake."""
_DIGITS = 16
# A tag's value has at most 256 characters (botocore, TagValue); twelve digits tell requests apart,
# and eight the groups of a cluster.
_MOST_CHARACTERS = 256
_GROUP_DIGITS = 8
_ALL_GROUPS = "all"
_FORMER_DIGITS = 12
_YES, _ONLY_UPDATE = "y", "u"
# All are among the characters that a tag's value may have (botocore, TagValue).
_UNANSWERED, _UNSURE, _LEFT, _LEFT_IMAGE = "@", "=", "+", "="


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
        answered: Whether SageMaker is known to have taken that call. A function that is killed, and
            an answer that is lost, leave that open.
        unsure: Whether the groups showed an update of their AMI before that call already, so that
            they do not show whether it was taken.
        former: The request that had the cluster before; empty if there was none.
        asks: Stands for the properties that the request wants.
        undoes_calls: Whether the request that is taken back called HyperPod, as far as is known.
        undoes_images: Whether it called for other AMIs.
    """

    request: str
    started_at: float
    takes_back: str = ""
    last_call: str = ""
    called_at: float = 0.0
    answered: bool = True
    unsure: bool = False
    former: str = ""
    asks: str = ""
    undoes_calls: bool = True
    undoes_images: bool = True

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
            asks, undoes_calls, *_ = rest  # a former version wrote one more
            return cls(
                request=request,
                started_at=float(started_at),
                takes_back=takes_back,
                last_call=last_call.rstrip(_UNANSWERED),
                called_at=float(called_at),
                answered=not last_call.endswith(_UNANSWERED),
                former=former.partition(".")[0],  # a former version wrote more of them
                asks=asks,
                undoes_calls=bool(undoes_calls),
                undoes_images=undoes_calls == _YES,
            )
        except ValueError:
            return None

    def __str__(self) -> str:
        return (
            f"{self.request}:{self.started_at:.3f}:{self.takes_back}:"
            f"{self.last_call}{'' if self.answered else _UNANSWERED}:"
            f"{self.called_at:.3f}:{self.former}:{self.asks}:{self._undoes}"
        )

    @property
    def _undoes(self) -> str:
        return (_YES if self.undoes_images else _ONLY_UPDATE) if self.undoes_calls else ""

    @property
    def rolls_back(self) -> bool:
        """Whether the request takes back one that failed."""
        return bool(self.takes_back)

    @property
    def tag(self) -> dict[str, str]:
        """The claim as a tag, without its last call."""
        return {REQUEST_TAG: str(replace(self, last_call="", called_at=0.0, answered=True))}

    @property
    def note(self) -> dict[str, str]:
        """The last call as a tag."""
        how = f"{_UNSURE * self.unsure}{_UNANSWERED * (not self.answered)}"
        value = f"{self.request}:{self.last_call}{how}:{self.called_at:.3f}"
        return {CALL_TAG: value}

    def noted(self, note: str) -> "Claim":
        """Return the claim with the last call that a tag notes, if it is this request's."""
        request, _, call = note.partition(":")
        key, _, called_at = call.partition(":")
        try:
            made_at = float(called_at)
        except ValueError:
            return self
        if request != self.request:
            return self
        return replace(
            self,
            last_call=key.rstrip(_UNSURE + _UNANSWERED),
            called_at=made_at,
            answered=_UNANSWERED not in key,
            unsure=_UNSURE in key,
        )

    @property
    def undone(self) -> tuple[str, ...]:
        """What stands for a rollback and the request that it takes back, as far as is known."""
        return (self.request, self.former)

    def over(self, visible: "Claim | None") -> "Claim":
        """Return this claim as it is written over the one that is visible."""
        if visible is None or visible.request == self.request:
            return self
        return replace(
            self,
            former=visible.request[:_FORMER_DIGITS],
            undoes_calls=self._undoes_calls_of(visible),
            undoes_images=self._undoes_calls_of(visible) and self._undoes_images_of(visible),
        )

    def _undoes_calls_of(self, visible: "Claim") -> bool:
        if visible.takes_back == self.takes_back:  # an earlier rollback of the same request
            return visible.undoes_calls
        # A former version's claim does not say which request it is.
        called = visible.last_call not in {"", REFUSED_KEY}
        return called and (self.follows(visible) or not visible.asks)

    def _undoes_images_of(self, visible: "Claim") -> bool:
        if visible.takes_back == self.takes_back:
            return visible.undoes_images
        return visible.last_call != UPDATE_KEY

    def follows(self, visible: "Claim") -> bool:
        """Say whether the visible claim is that of the request that this one takes back."""
        return self.takes_back in {visible.asks, visible.takes_back}

    @property
    def made_the_cluster(self) -> bool:
        """Whether the cluster is as the request made it."""
        return self.last_call == CREATE_KEY

    def is_fresh(self, now: float) -> bool:
        """Say whether the last call is so young that DescribeCluster may not show it yet."""
        return now < self.called_at + READ_LAG_SECONDS

    def after_call(
        self, key: str, *, now: float, answered: bool = True, unsure: bool = False
    ) -> "Claim":
        """Return the claim with a note of a call.

        Args:
            key: Stands for the call.
            now: When it is made, in seconds since the epoch.
            answered: Whether SageMaker has taken it. Default: yes.
            unsure: Whether the cluster would not show it. Default: no.
        """
        return replace(
            self, last_call=key, called_at=round(now, 3), answered=answered, unsure=unsure
        )


def properties_key(properties: Mapping[str, Any]) -> str:
    """Return what stands for a request's properties in a claim."""
    return digest(json.dumps(properties, sort_keys=True))[:_FORMER_DIGITS]


@dataclass(frozen=True, slots=True, kw_only=True)
class NotedGroups:
    """The groups that the tag notes.

    Attributes:
        counts: Numbers of nodes of groups that were found, by what stands for the group's name;
            None if it was not described.
        are_all: Whether there were too many for a tag: every group may have been found.
        left: The groups that are other than they were asked to be, by what stands for the name,
            with the number of nodes that they have then; None for a group that is to go. One that
            has another number later was changed by hand, and keeps it.
        left_images: What stands for the groups whose AMI is, or may be.
        left_by: Stands for the request that left them.
    """

    counts: Mapping[str, int | None] = field(default_factory=dict)
    are_all: bool = False
    left: Mapping[str, int | None] = field(default_factory=dict)
    left_images: frozenset[str] = frozenset()
    left_by: str = ""

    @classmethod
    def of(cls, tags: Mapping[str, str]) -> "NotedGroups":
        """Return what a cluster's tags note."""
        left_by, _, value = tags.get(GROUPS_TAG, "").rpartition(":")
        if value == _ALL_GROUPS:
            return cls(are_all=True)
        entries = [entry for entry in value.split(".") if entry]
        pairs = (entry.partition("-") for entry in entries if "-" in entry)
        left = (entry.partition(_LEFT) for entry in entries if _LEFT in entry)
        return cls(
            counts={key: int(count) if count.isdigit() else None for key, _, count in pairs},
            left={key: int(count) if count.isdigit() else None for key, _, count in left},
            left_images=frozenset(
                entry.removesuffix(_LEFT_IMAGE) for entry in entries if entry.endswith(_LEFT_IMAGE)
            ),
            left_by=left_by,
        )

    def without_left_by(self, requests: Iterable[str]) -> "NotedGroups":
        """Return the note without what a request has left, if it is one of these."""
        is_theirs = self.left_by in {each[:_FORMER_DIGITS] for each in requests if each}
        return replace(self, left={}, left_images=frozenset()) if is_theirs else self

    def with_found(self, counts: Mapping[str, int | None]) -> "NotedGroups":
        """Return the note with these groups as those that were found, by name."""
        return replace(
            self,
            counts={_group_key(name): count for name, count in counts.items()},
            are_all=False,
        )

    def with_left(
        self, counts: Mapping[str, int | None], *, images: Iterable[str] = ()
    ) -> "NotedGroups":
        """Return the note with groups that are, or whose AMI is, other than asked."""
        return replace(
            self,
            left={_group_key(name): count for name, count in counts.items()},
            left_images=frozenset(map(_group_key, images)),
        )

    def and_left(self, other: "NotedGroups", *, by: str) -> "NotedGroups":
        """Return the note with what is left as another one has it, left by a request."""
        by = by[:_FORMER_DIGITS] if other.left or other.left_images else ""
        return replace(self, left=other.left, left_images=other.left_images, left_by=by)

    @property
    def tag(self) -> dict[str, str]:
        """The groups as a tag."""
        left = [
            f"{key}{_LEFT}{'' if count is None else count}"
            for key, count in sorted(self.left.items())
        ]
        left += [f"{key}{_LEFT_IMAGE}" for key in sorted(self.left_images)]
        found = [
            f"{key}-{'' if count is None else count}" for key, count in sorted(self.counts.items())
        ]
        value = ".".join([*left, *found])
        value = f"{self.left_by}:{value}" if self.left_by else value
        too_long = self.are_all or len(value) > _MOST_CHARACTERS
        return {GROUPS_TAG: _ALL_GROUPS if too_long else value}

    def is_left(self, name: str, details: Group | None = None) -> bool:
        """Say whether a group is other than it was asked to be, and still as it was left.

        Args:
            name: The group's name.
            details: What DescribeCluster says of it. Default: nothing, so that it is not compared.
        """
        if _group_key(name) not in self.left:
            return False
        count = self.left[_group_key(name)]
        return count is None or details is None or details.get("TargetCount") == count

    def is_image_left(self, name: str) -> bool:
        """Say whether a group's AMI is, or may be, other than it was asked to be."""
        return _group_key(name) in self.left_images

    def __contains__(self, name: str) -> bool:
        """Say whether a group was found."""
        return self.are_all or _group_key(name) in self.counts

    def count_of(self, name: str) -> int | None:
        """Return how many nodes a group had; None if that is not noted."""
        return self.counts.get(_group_key(name))


def _group_key(name: str) -> str:
    return digest(name)[:_GROUP_DIGITS]


def visible_claim(tags: Mapping[str, str]) -> Claim | None:
    """Return the claim on a cluster, as far as its tags show."""
    claim = Claim.parse(tags.get(REQUEST_TAG, ""))
    return claim and claim.noted(tags.get(CALL_TAG, ""))
