"""What the journal says of a cluster: what was called for, what was there before, and what is left.

A note of a group is written before the call that changes the group. It keeps what held before, so
that a rollback gives back what its request changed, and no more. What a request that failed has
left, its note still says; the next update compares it with what the cluster shows (`settled`).
"""

import os
from collections.abc import Collection, Mapping, Sequence
from dataclasses import asdict, dataclass, field, fields, replace
from typing import Any

from hyperpod_shared.cluster_changes import requested_value
from hyperpod_shared.clusters import (
    CONTINUOUS,
    COUNT,
    SETTLED,
    ClusterStatus,
    Described,
    Group,
    Groups,
    groups_of,
    is_updated,
    present_groups,
)
from provisioner.hyperpod.comparison import (
    IMAGE_KEYS,
    SoftwareUpdate,
    asks_for_image,
    covers,
    is_as_described,
    shows_image,
    without_image,
)

CREATE, UPDATE, DELETE = "create", "update", "delete"
"""The keys of these calls; those about AMIs have keys of their own."""
SUCCEEDED, CREATE_FAILED = "succeeded", "failed"
ADOPTED = "adopted"
"""The cluster worked before the stack took it over, so that stack's rollback does not delete it."""
READ_LAG_SECONDS = float(os.environ.get("READ_LAG_SECONDS", "120"))
"""How long a read may miss a write; AWS names no limit. Longer costs a wait, shorter a mistake.

A local AWS whose reads miss nothing sets less.
"""


def _known(kind: type, item: Mapping[str, Any]) -> dict[str, Any]:
    """Return the members of an item that are known here: a later version may have noted more."""
    names = {one.name for one in fields(kind)}
    return {name: value for name, value in item.items() if name in names}


@dataclass(frozen=True, slots=True, kw_only=True)
class Call:
    """A call that changes the cluster.

    Attributes:
        at: When it was made, in seconds since the epoch.
        answered: Whether SageMaker is known to have taken it. A function that is killed, and an
            answer that is lost, leave that open.
        unsure: Whether the groups will not show whether it was taken.
        groups: The groups as it asks for them, by name; None for one that is to go.
        fields: What else it asks for.
        images: What the groups showed of their AMI before it.
    """

    key: str
    at: float
    answered: bool = False
    unsure: bool = False
    groups: Mapping[str, Group | None] = field(default_factory=dict)
    fields: Mapping[str, Any] = field(default_factory=dict)
    images: Mapping[str, Sequence[Any]] = field(default_factory=dict)

    def is_fresh(self, now: float) -> bool:
        """Say whether it is so young that DescribeCluster may not show it yet."""
        return now < self.at + READ_LAG_SECONDS

    def is_shown(self, described: Described) -> bool:
        """Say whether a description shows what the call asks for."""
        if self.key == CREATE:
            return bool(described)
        if self.key == DELETE:
            return described.get("ClusterStatus") in {None, ClusterStatus.DELETING}
        present = present_groups(described)
        return (
            all(
                name not in present if group is None else is_as_described(group, present.get(name))
                for name, group in self.groups.items()
            )
            and all(
                covers(requested_value(described.get(key)), value)
                for key, value in self.fields.items()
            )
            and all(
                image_of(present.get(name, {})) != list(before)
                for name, before in self.images.items()
            )
        )


def image_of(details: Group) -> list[Any]:
    """Return what a group shows of its AMI."""
    return [
        details.get(key)
        for key in (
            "SoftwareUpdateStatus",
            "CurrentImageId",
            "CurrentImageReleaseVersion",
            "DesiredImageId",
            "DesiredImageReleaseVersion",
        )
    ]


@dataclass(frozen=True, slots=True, kw_only=True)
class GroupNote:
    """What was asked for about a group.

    Attributes:
        asked: The group as a template asks for it; None if it was removed.
        by: The request that changed it since `was` held; empty if none did.
        before: How many nodes the group had then; None if it was not there.
        was: What was noted then; None if no template had named the group.
        patched: What it showed of its AMI before the request's call for another; None if there was
            no such call; empty once a rollback called for the AMI before.
        patched_by: The request that made that call; it stays while that is under way.
        left: What it showed of its AMI before the rollback's call.
        reached: Whether the group was so when the request ended; what differs since is by hand.
    """

    asked: Group | None
    by: str = ""
    before: int | None = None
    was: "GroupNote | None" = None
    patched: Sequence[Any] | None = None
    patched_by: str = ""
    reached: bool = False
    left: Sequence[Any] = ()

    @classmethod
    def of(cls, item: Mapping[str, Any] | None) -> "GroupNote | None":
        """Return a note as the journal has it."""
        return cls(**{**_known(cls, item), "was": cls.of(item.get("was"))}) if item else None

    @property
    def count(self) -> int | None:
        """How many nodes are asked for; None if the group was removed."""
        return None if self.asked is None else self.asked[COUNT]

    def count_of(self, there: int | None) -> int | None:
        """Return how many nodes are asked for if the group has `there`: what failed is not."""
        is_given_back = there == self.before and not self.reached
        return self.was.count if self.was and is_given_back else self.count

    def settled(self, details: Group | None, *, former: Group | None) -> "GroupNote | None":
        """Return what holds of the group, by what the cluster shows of it; None for nothing.

        `former` is the group in the template that was deployed last.
        """
        if not self.by or (details and (is_updated(details) or _may_fall_back(details))):
            return self
        there = None if details is None else details.get("TargetCount")
        kept: GroupNote | None = self
        if self.was is None and self.before is not None and former is None:
            return None  # an operator's, which the request did not keep
        if self.reached:
            kept = self
        elif there not in {self.count, self.before}:  # changed by hand
            kept = self if former and former[COUNT] == self.count else self.was
        elif there != self.count or self._is_as_it_was(details):
            kept = self.was
        if kept is None and former is not None:
            kept = GroupNote(asked=former)
        if kept is None or kept.asked is None:
            return None
        if self.patched is None or details is None or not self.asked:
            return GroupNote(asked=kept.asked)
        given = self._unpatched
        shows = asks_for_image(self.asked) and shows_image(details, self.asked, state="Current")
        if shows or (self.left and _has_kept(details, self.left)):
            given = self
        elif self.patched and not _has_kept(details, self.patched):  # changed by hand
            given = kept
        return GroupNote(asked=_with_image_of(kept.asked, given.asked if given else None))

    def _is_as_it_was(self, details: Group | None) -> bool:
        """Say whether a group of the same number of nodes shows what was noted before."""
        if not (self.asked and self.was and self.was.asked):
            return False
        return is_as_described(self.was.asked, details) and not is_as_described(self.asked, details)

    @property
    def _unpatched(self) -> "GroupNote | None":
        """What was noted before the call for another AMI."""
        note = self.was
        while note is not None and note.patched is not None:
            note = note.was
        return note

    def is_taken_back(self, details: Group | None) -> bool:
        """Say whether the group is as it was before the request."""
        there = None if details is None else details.get("TargetCount")
        if there != self.before or (details and self.patched is not None and is_updated(details)):
            return False
        if not (details and self.asked and self.was and self.was.asked):
            return True
        if asks_for_image(self.was.asked):
            return shows_image(details, self.was.asked, state="Current")
        given = asks_for_image(self.asked) and shows_image(details, self.asked, state="Current")
        return not given


def _has_kept(details: Group, shown: Sequence[Any]) -> bool:
    """Say whether a group has the AMI now that it had when it was shown like this."""
    current = slice(1, 3)
    return image_of(details)[current] == [*shown][current]


def _may_fall_back(details: Group) -> bool:
    """Say whether HyperPod takes a group back that does not get its least number in 3 hours.

    botocore, UpdateCluster: MinInstanceCount.
    """
    return int(details.get("CurrentCount", 0)) < int(details.get("MinCount") or 0)


def _with_image_of(group: Group, other: Group | None) -> dict[str, Any]:
    image = {key: value for key, value in (other or {}).items() if key in IMAGE_KEYS}
    return {**without_image(group), **image}


@dataclass(frozen=True, slots=True, kw_only=True)
class Notes:
    """What is noted of a cluster.

    Attributes:
        holder: The request that wrote last.
        asks: Stands for the properties that it wants.
        takes_back: Stands for the properties that it takes back; empty if it is no rollback.
        undone: The request that is taken back, and earlier rollbacks of it.
        undone_calls: The keys of their calls.
        calls: The holder's calls.
        former: The last call of the requests before.
        arn: The ARN of the cluster, once it is known.
        creation: SUCCEEDED, CREATE_FAILED or ADOPTED; empty while that is unknown.
        groups: By name; None if nothing is known.
    """

    holder: str = ""
    asks: str = ""
    takes_back: str = ""
    undone: Sequence[str] = ()
    undone_calls: Sequence[str] = ()
    calls: tuple[Call, ...] = ()
    former: Call | None = None
    arn: str = ""
    creation: str = ""
    groups: Mapping[str, GroupNote] | None = None

    @classmethod
    def of(cls, item: Mapping[str, Any]) -> "Notes":
        """Return the notes as the journal has them."""
        known = _known(cls, item)
        if known.get("groups") is not None:
            known["groups"] = {name: GroupNote.of(one) for name, one in known["groups"].items()}
        if known.get("former"):
            known["former"] = Call(**_known(Call, known["former"]))
        calls = tuple(Call(**_known(Call, one)) for one in known.pop("calls", ()))
        return cls(calls=calls, **known)

    @property
    def item(self) -> dict[str, Any]:
        """The notes as the journal has them."""
        return asdict(self)

    def taken_by(self, request: str, *, asks: str, takes_back: str) -> "Notes":
        """Return the notes as a request finds them that has the cluster now."""
        if self.holder == request:
            return self
        undone: Sequence[str] = ()
        undone_calls: Sequence[str] = ()
        made = tuple(one.key for one in self.calls)
        if takes_back and self.takes_back == takes_back:
            undone, undone_calls = (*self.undone, self.holder), (*self.undone_calls, *made)
        elif takes_back and not self.takes_back and self.asks == takes_back:
            undone, undone_calls = (self.holder,), made
        groups = self.groups and {
            name: replace(note, reached=note.reached and note.by not in undone)
            for name, note in self.groups.items()
        }
        return replace(
            self,
            groups=groups,
            holder=request,
            asks=asks,
            takes_back=takes_back,
            undone=undone,
            undone_calls=undone_calls,
            calls=(),
            former=self.own or self.former,
        )

    @property
    def own(self) -> Call | None:
        """The last call of the request that has the cluster."""
        return self.calls[-1] if self.calls else None

    def call(self, key: str) -> Call | None:
        """Return the holder's last call of a kind."""
        return next((one for one in reversed(self.calls) if one.key == key), None)

    @property
    def base(self) -> dict[str, GroupNote]:
        """The notes of groups without what the holder has changed."""
        groups = (self.groups or {}).items()
        own = {name: note.was if note.by == self.holder else note for name, note in groups}
        return {name: note for name, note in own.items() if note is not None}

    @property
    def changed_by_undone(self) -> dict[str, GroupNote]:
        """The notes of the groups that the request which is taken back has changed."""
        groups = (self.groups or {}).items()
        return {name: note for name, note in groups if note.by and note.by in self.undone}

    def settled(self, described: Described, former: Groups) -> "Notes":
        """Return the notes with what holds of the groups that requests before have changed.

        `former` are the groups of the template that was deployed last.
        """
        present, groups = present_groups(described), {}
        for name, note in (self.groups or {}).items():
            kept: GroupNote | None = note
            if note.by != self.holder:
                kept = note.settled(present.get(name), former=former.get(name))
            if kept is not None:
                groups[name] = kept
        return replace(self, groups=groups)

    def calling(self, call: Call) -> "Notes":
        """Return the notes with a call that is going to be made, or that is answered."""
        same = self.calls and self.calls[-1].key == call.key
        return replace(self, calls=(*(self.calls[:-1] if same else self.calls), call))

    def changing(
        self,
        update: Mapping[str, Any],
        wanted: Groups,
        described: Described,
        *,
        removed: Sequence[str],
    ) -> "Notes":
        """Return the notes of the groups that an UpdateCluster with this input is going to change.

        `removed` are the groups to delete.
        """
        present, base, sent = present_groups(described), self.base, groups_of(update)
        notes = dict(self.groups or {})
        for name in removed:
            notes[name] = self._changed(name, None, present.get(name))
        for name in wanted.keys() & sent.keys():
            note, details = base.get(name), present.get(name)
            asked = wanted[name]
            if details is not None:  # its AMI has calls of its own
                asked = _with_image_of(asked, note.asked if note else None)
            same = details is not None and details.get("TargetCount") == sent[name][COUNT]
            if not (same and note is not None and note.asked == asked):
                notes[name] = self._changed(name, asked, details)
        return replace(self, groups=notes)

    def patching(self, update: SoftwareUpdate, wanted: Groups, described: Described) -> "Notes":
        """Return the notes of the groups that an UpdateClusterSoftware gives another AMI."""
        present, notes = present_groups(described), dict(self.groups or {})
        for name, _ in update.groups:
            before = notes.get(name)
            note = self._changed(name, before.asked if before else None, present.get(name))
            asked = _with_image_of(note.asked or wanted[name], wanted[name])
            shown = note.patched if note.patched is not None else image_of(present.get(name, {}))
            notes[name] = replace(note, asked=asked, patched=shown, patched_by=self.holder)
        return replace(self, groups=notes)

    def patching_back(self, update: SoftwareUpdate, described: Described) -> "Notes":
        """Return the notes of the groups that a rollback gives their AMI back."""
        groups, present = self.groups or {}, present_groups(described)
        back = {
            name: replace(groups[name], patched=(), left=image_of(present.get(name, {})))
            for name, _ in update.groups
            if name in groups
        }
        return replace(self, groups={**groups, **back})

    def reached(self, wanted: Groups, described: Described, *, others: Collection[str]) -> "Notes":
        """Return the notes as an update leaves them, of the groups that are as they are asked for.

        `others` are those that are not, or that HyperPod has not the AMI for yet.
        """
        present, notes = present_groups(described), dict(self.groups or {})
        for name in wanted.keys() & present.keys():
            note = notes.get(name)
            if name in others:
                continue
            if note is None or note.asked != wanted[name]:
                notes[name] = self._changed(name, wanted[name], present[name])
        own = {name: note for name, note in notes.items() if note.by == self.holder}
        # An all-or-nothing cluster that is busy may still take its update back.
        may_go_back = (
            described.get("ClusterStatus") not in SETTLED
            and described.get("NodeProvisioningMode") != CONTINUOUS
        )
        for name in own.keys() - {*others}:
            details = present.get(name, {})
            if not (may_go_back or is_updated(details) or _may_fall_back(details)):
                notes[name] = own[name] = replace(own[name], reached=True)
        return replace(
            self,
            groups=own | {name: notes[name] for name in notes.keys() & {*present, *wanted}},
        )

    def given_back(self, wanted: Groups, described: Described) -> "Notes":
        """Return the notes as a rollback leaves them: a group that is as before needs no more."""
        present, notes = present_groups(described), dict(self.groups or {})
        for name, note in self.changed_by_undone.items():
            details, asked = present.get(name), wanted.get(name)
            if note.before is None and details and asked:
                if details.get("TargetCount") == asked[COUNT] and not note.left:
                    notes[name] = GroupNote(asked=asked)
            elif note.is_taken_back(details):
                del notes[name]
                if note.was is not None:
                    notes[name] = note.was
                if note.asked is None and note.was and note.was.asked and asked:  # made anew
                    notes[name] = GroupNote(asked=_with_image_of(note.was.asked, asked))
        kept = {name: GroupNote(asked=wanted[name]) for name in wanted.keys() & present.keys()}
        return replace(self, groups=kept | notes)

    def _changed(self, name: str, asked: Group | None, details: Group | None) -> GroupNote:
        note = (self.groups or {}).get(name)
        if note is not None and note.by == self.holder:
            return replace(note, asked=asked, reached=False)
        before = None if details is None else details.get("TargetCount", 0)
        changed = GroupNote(asked=asked, by=self.holder, before=before, was=note)
        if note is None:
            return changed
        return replace(changed, patched=note.patched, patched_by=note.patched_by)
