"""The claim: which request of CloudFormation has the cluster, as a tag on it.

Each request writes its claim before its first change: its rollback then knows what it called, and
its polls know that the tags show what it wrote. Whether it still has its turn, the stack's events
say (`framework.operation`).

Tags are read after a delay, so another request's claim may mean: the own one is not visible yet.
"""

import json
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field, replace
from types import MappingProxyType
from typing import Any

from hyperpod_shared.clusters import Group, Groups
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

FOUND_TAG = f"{TAG_PREFIX}found-groups"
"""The groups that an update changes, and that were other than the former template has them: its
rollback leaves them there, with the number of nodes that they had."""
LEFT_TAG = f"{TAG_PREFIX}left-groups"
"""The groups that the last request left other than it was asked to: the next update sees to them.
Apart from those that were found, so that the writer of one need not know the other."""

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
_IMAGE_DIGITS = 4
_ALL_GROUPS = "all"
_FORMER_DIGITS = 12
UNDOES_UPDATE, UNDOES_IMAGES, UNDOES_CREATION = "u", "y", "c"
"""What a rollback has to take back: UpdateCluster alone, other AMIs too, or a new cluster."""
# All are among the characters that a tag's value may have (botocore, TagValue).
_UNANSWERED, _UNSURE, _LEFT_IMAGE = "@", "=", "="
_OR, _BETWEEN, _COUNT = "+", ".", "-"


@dataclass(frozen=True, slots=True, kw_only=True)
class Claim:
    """One request's claim on a cluster.

    Times are in seconds since the epoch; `request` and `asks` stand for the request's id, and for
    the properties that it wants.

    Attributes:
        takes_back: Stands for the properties that the request takes back; empty if it is no
            rollback.
        last_call: The key of the last call that was made for the request.
        answered: Whether SageMaker is known to have taken that call. A function that is killed, and
            an answer that is lost, leave that open.
        unsure: Whether the groups showed an update of their AMI before that call already, so that
            they do not show whether it was taken.
        doubted: The keys of earlier calls of which that was never found out.
        former: The request that had the cluster before, for a rollback the one that it takes back
            or an earlier rollback of that; empty if there was none.
        undoes: What the request that is taken back called HyperPod for, as far as is known: UNDOES_
            and the rest of its name; empty if for nothing.
    """

    request: str
    started_at: float
    takes_back: str = ""
    last_call: str = ""
    called_at: float = 0.0
    answered: bool = True
    unsure: bool = False
    doubted: str = ""
    former: str = ""
    asks: str = ""
    undoes: str = UNDOES_IMAGES

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
            asks, undoes, *_ = rest  # a former version wrote one more
            return cls(
                request=request,
                started_at=float(started_at),
                takes_back=takes_back,
                former=former.partition(".")[0],  # a former version wrote more of them
                asks=asks,
                undoes=undoes,
                **_call(last_call, float(called_at)),
            )
        except ValueError:
            return None

    def __str__(self) -> str:
        return (
            f"{self.request}:{self.started_at:.3f}:{self.takes_back}:{self._call}:"
            f"{self.called_at:.3f}:{self.former}:{self.asks}:{self.undoes}"
        )

    @property
    def _call(self) -> str:
        how = f"{_UNSURE * self.unsure}{_UNANSWERED * (not self.answered)}"
        return _OR.join([f"{self.last_call}{how}", *filter(None, [self.doubted])])

    def _called(self, text: str, called_at: float) -> "Claim":
        return replace(self, **_call(text, called_at))

    @property
    def unknown_calls(self) -> frozenset[str]:
        """The calls that SageMaker may not have taken."""
        last = "" if self.answered else self.last_call
        return frozenset({last, *self.doubted.split(_OR)} - {""})

    @property
    def unsure_calls(self) -> frozenset[str]:
        """The calls of which the groups do not show whether they were taken."""
        last = self.last_call if self.unsure else ""
        return frozenset({last, *self.doubted.split(_OR)} - {""})

    @property
    def rolls_back(self) -> bool:
        """Whether the request takes back one that failed."""
        return bool(self.takes_back)

    @property
    def tag(self) -> dict[str, str]:
        """The claim as a tag, without its last call."""
        return {REQUEST_TAG: str(self._called("", 0.0))}

    @property
    def note(self) -> dict[str, str]:
        """The last call as a tag."""
        return {CALL_TAG: f"{self.request}:{self._call}:{self.called_at:.3f}"}

    def noted(self, note: str) -> "Claim":
        """Return the claim with the last call that a tag notes, if it is this request's."""
        try:
            request, call, called_at = note.split(":")
            return self._called(call, float(called_at)) if request == self.request else self
        except ValueError:
            return self

    def with_last_call_of(self, other: "Claim") -> "Claim":
        """Return the claim with the later one of two last calls, as tags show them late."""
        if not other.last_call or other.called_at <= self.called_at:
            return self
        return self._called(other._call, other.called_at)

    def is_taken_back_by(self, visible: "Claim | None") -> bool:
        """Say whether a visible claim is that of the rollback of this one's request."""
        mine = self.request[:_FORMER_DIGITS]
        return visible is not None and visible.rolls_back and visible.former == mine

    @property
    def undone(self) -> tuple[str, ...]:
        """What stands for a rollback and the request that it takes back, as far as is known."""
        return (self.request, self.former)

    def over(self, visible: "Claim | None") -> "Claim":
        """Return this claim as it is written over the one that is visible."""
        if visible is None or visible.request == self.request:
            return self
        is_former = not self.rolls_back or self.follows(visible)
        return replace(
            self,
            former=visible.request[:_FORMER_DIGITS] if is_former else "",
            undoes=self._undoes_of(visible),
        )

    def _undoes_of(self, visible: "Claim") -> str:
        if visible.takes_back == self.takes_back:  # an earlier rollback of the same request
            return visible.undoes
        # A former version's claim does not say which request it is.
        if not (self.follows(visible) or not visible.asks):
            return ""
        undoes = {"": "", REFUSED_KEY: "", UPDATE_KEY: UNDOES_UPDATE, CREATE_KEY: UNDOES_CREATION}
        return undoes.get(visible.last_call, UNDOES_IMAGES)

    def follows(self, visible: "Claim") -> bool:
        """Say whether a rollback takes back the request of the visible claim, or did so before."""
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

        `unsure` says that the cluster would not show the call.
        """
        doubted = self.doubted
        if self.last_call not in {"", UPDATE_KEY, key} and not self.answered:
            doubted = _OR.join(filter(None, [self.last_call, doubted]))
        return replace(
            self,
            last_call=key,
            called_at=round(now, 3),
            answered=answered,
            unsure=unsure,
            doubted=doubted,
        )


def _call(text: str, called_at: float) -> dict[str, Any]:
    call, _, doubted = text.partition(_OR)
    return {
        "last_call": call.rstrip(_UNSURE + _UNANSWERED),
        "called_at": called_at,
        "answered": _UNANSWERED not in call,
        "unsure": _UNSURE in call,
        "doubted": doubted,
    }


def properties_key(properties: Mapping[str, Any]) -> str:
    """Return what stands for a request's properties in a claim."""
    return digest(json.dumps(properties, sort_keys=True))[:_FORMER_DIGITS]


@dataclass(frozen=True, slots=True, kw_only=True)
class FoundGroups:
    """The groups that an update found other than the former template has them.

    Attributes:
        counts: Their numbers of nodes, by what stands for the group's name; None if it was not
            described.
        are_all: Whether there were too many for a tag: every group may have been found.
    """

    counts: Mapping[str, int | None] = field(default_factory=dict)
    are_all: bool = False

    @classmethod
    def of(cls, tags: Mapping[str, str]) -> "FoundGroups":
        """Return what a cluster's tags note."""
        value = tags.get(FOUND_TAG, "")
        return cls(are_all=True) if value == _ALL_GROUPS else cls(counts=_counts(value))

    @classmethod
    def with_counts(cls, counts: Mapping[str, int | None]) -> "FoundGroups":
        """Return these groups, by name."""
        return cls(counts={_group_key(name): count for name, count in counts.items()})

    @property
    def tag(self) -> dict[str, str]:
        """The groups as a tag."""
        value = _BETWEEN.join(_entries(self.counts))
        return {FOUND_TAG: value if len(value) <= _MOST_CHARACTERS else _ALL_GROUPS}

    def __contains__(self, name: str) -> bool:
        """Say whether a group was found."""
        return self.are_all or _group_key(name) in self.counts

    def count_of(self, name: str) -> int | None:
        """Return how many nodes a group had; None if that is not noted."""
        return self.counts.get(_group_key(name))


@dataclass(frozen=True, slots=True, kw_only=True)
class LeftGroups:
    """The groups that a request left other than it was asked to.

    Attributes:
        counts: Their numbers of nodes then, by what stands for the group's name; None for a group
            that is to go. One that has another number later was changed by hand, and keeps it.
        images: What stands for the AMI of the groups that have, or may have, another one. One that
            has a third one later was given it by hand, or as it was asked for.
    """

    counts: Mapping[str, int | None] = field(default_factory=dict)
    images: Mapping[str, str] = field(default_factory=dict)
    by: str = ""

    @classmethod
    def of(cls, tags: Mapping[str, str]) -> "LeftGroups":
        """Return what a cluster's tags note."""
        by, _, value = tags.get(LEFT_TAG, "").partition(":")
        images = [entry for entry in value.split(_BETWEEN) if _LEFT_IMAGE in entry]
        pairs = (entry.partition(_LEFT_IMAGE) for entry in images)
        return cls(counts=_counts(value), images={key: ami for key, _, ami in pairs}, by=by)

    @classmethod
    def with_counts(
        cls,
        counts: Mapping[str, int | None],
        *,
        images: Groups = MappingProxyType({}),
        by: str = "",
    ) -> "LeftGroups":
        """Return these groups, by name; `images` as they are described."""
        return cls(
            counts={_group_key(name): count for name, count in counts.items()},
            images={_group_key(name): _image_key(images[name]) for name in images},
            by=by[:_FORMER_DIGITS] if counts or images else "",
        )

    @property
    def tag(self) -> dict[str, str]:
        """The groups as a tag; those that do not fit are told alone."""
        images = [f"{key}{_LEFT_IMAGE}{ami}" for key, ami in sorted(self.images.items())]
        value = _BETWEEN.join([*_entries(self.counts), *images])
        if len(value) > _MOST_CHARACTERS - _FORMER_DIGITS - 1:
            value = value[: _MOST_CHARACTERS - _FORMER_DIGITS - 1].rpartition(_BETWEEN)[0]
        return {LEFT_TAG: f"{self.by}:{value}" if value else ""}

    def unless_by(self, requests: Iterable[str]) -> "LeftGroups":
        """Return none if one of these requests left them."""
        is_theirs = self.by in {each[:_FORMER_DIGITS] for each in requests if each}
        return LeftGroups() if is_theirs else self

    def has(self, name: str, details: Group | None = None) -> bool:
        """Say whether a group is other than it was asked to be, and still as it was left.

        Without details, what DescribeCluster says of it, the group is not compared.
        """
        if _group_key(name) not in self.counts:
            return False
        count = self.counts[_group_key(name)]
        return count is None or details is None or details.get("TargetCount") == count

    def has_image(self, name: str, details: Group | None = None) -> bool:
        """Say whether a group has, or may have, another AMI; `details` are as for `has`."""
        ami = self.images.get(_group_key(name))
        return ami is not None and (details is None or ami == _image_key(details))


def _group_key(name: str) -> str:
    return digest(name)[:_GROUP_DIGITS]


def _image_key(details: Group) -> str:
    shown = [details.get("CurrentImageId"), details.get("CurrentImageReleaseVersion")]
    return digest(str(shown))[:_IMAGE_DIGITS]


def _entries(counts: Mapping[str, int | None]) -> list[str]:
    return [
        f"{key}{_COUNT}{'' if count is None else count}" for key, count in sorted(counts.items())
    ]


def _counts(value: str) -> dict[str, int | None]:
    pairs = (entry.partition(_COUNT) for entry in value.split(_BETWEEN) if _COUNT in entry)
    return {key: int(count) if count.isdigit() else None for key, _, count in pairs}


def visible_claim(tags: Mapping[str, str]) -> Claim | None:
    """Return the claim on a cluster, as far as its tags show."""
    claim = Claim.parse(tags.get(REQUEST_TAG, ""))
    return claim and claim.noted(tags.get(CALL_TAG, ""))
