"""What a change does to the nodes of instance groups, and what AWS refuses to change.

The requests in the templates are compared with each other, and with what the cluster has where that
is known: a deployment changes what changed in the configuration, and leaves other numbers alone.
"""

import json
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import replace
from typing import Any

from hyperpod_cdk.effects.effect import Effect, StackState
from hyperpod_cdk.effects.nodes import of_count, of_removal
from hyperpod_cdk.hyperpod.cluster_template import CLUSTER_TYPES, ClusterResource, cluster_of
from hyperpod_cdk.hyperpod.instance_group import InstanceGroupConfig, RestrictedInstanceGroupConfig
from hyperpod_cdk.hyperpod.section import ClusterConfig
from hyperpod_cdk.schema.errors import Finding, Findings, KeyPath, error
from hyperpod_cdk.schema.section import Api
from hyperpod_shared import cluster_changes
from hyperpod_shared.cluster_changes import (
    KEYS,
    TAGS,
    Refusal,
    changed_fields,
    means_the_same,
)
from hyperpod_shared.clusters import (
    COUNT,
    GROUP_LISTS,
    ClusterInput,
    Described,
    Group,
    groups_of,
    present_groups,
    types_of,
)

_NOT_KNOWN = "what changes in the HyperPod cluster is not known: its deployed template is odd"
_OTHER_IMAGE = ("ImageId", "ImageReleaseVersion")
_CLUSTER: KeyPath = ("cluster",)
# Attributes of the sections, by the member of the request that they become.
_WORDS = {
    mark.member: name
    for model in (ClusterConfig, RestrictedInstanceGroupConfig, InstanceGroupConfig)
    for name, field in model.model_fields.items()
    for mark in field.metadata
    if isinstance(mark, Api)
} | {"InstanceStorageConfigs": "volumes and mounts", TAGS: "tags"}


def effects(former: StackState, wanted: StackState) -> Iterator[Effect]:
    """Yield what a change does to the HyperPod cluster and its nodes."""
    resources = frozenset(wanted.of_type(*CLUSTER_TYPES))
    for effect in _effects(former, wanted):
        yield replace(effect, resources=resources)


def _effects(former: StackState, wanted: StackState) -> Iterator[Effect]:
    asked, had = cluster_of(wanted.template), cluster_of(former.template)
    if asked is None or asked == had:
        return
    if had is None and former.of_type(*CLUSTER_TYPES):
        yield Effect(rule="cluster.unknown", text=_NOT_KNOWN, place=_CLUSTER)
        return
    was = {} if had is None else had.request
    there = was if former.cluster is None else former.cluster
    if was and not there:
        text = "the HyperPod cluster is gone, and is made again"
        yield Effect(rule="cluster.made-again", text=text, place=_CLUSTER)
    yield from _of_groups(asked, was if there else {}, there)
    if there:
        yield from _changed_values(
            was, asked.request, place=_CLUSTER, without=(*GROUP_LISTS, "ClusterName")
        )
        if had is not None and asked.software != had.software:
            text = "every group without an AMI of its own gets HyperPod's latest"
            yield Effect(rule="cluster.software", text=text, place=_CLUSTER, loses=True)


def refusals(former: StackState, wanted: StackState) -> Findings:
    """Yield the changes of the HyperPod cluster that no call makes.

    CloudFormation's own resource replaces the cluster if one of the cluster's own values changes.
    """
    asked, had = cluster_of(wanted.template), cluster_of(former.template)
    if asked is None or had is None or asked.request == had.request:
        return
    fields = changed_fields(asked.request, had.request)
    for refusal in cluster_changes.refusals(
        asked.request,
        had.request if former.cluster is None else former.cluster,
        asked=frozenset() if asked.is_native or former.cluster == {} else fields,
        former=groups_of(had.request),
    ):
        yield _finding(refusal, before=had.request, after=asked.request)


def _finding(refusal: Refusal, *, before: ClusterInput, after: ClusterInput) -> Finding:
    """Return a refusal as the file's reader meets it: the key, its value, the former one."""
    path = _CLUSTER
    if refusal.group is not None:
        path = _place(refusal.group, after)
        before, after = (groups_of(each).get(refusal.group, {}) for each in (before, after))
    key = KEYS.get(refusal.what)
    value = _shown(after.get(refusal.what)) if key else refusal.group
    what = "" if key else f"{_WORDS.get(refusal.what, refusal.what)} "
    return error(
        (*path, key) if key else (*path, "name") if refusal.group else path,
        value,
        f"{what}cannot be changed once it is deployed; restore the former value "
        f"({_shown(before.get(refusal.what))}). {refusal.instead}",
    )


def _of_groups(asked: ClusterResource, was: ClusterInput, there: Described) -> Iterator[Effect]:
    wanted, former, present = groups_of(asked.request), groups_of(was), present_groups(there)
    for name, group in wanted.items():
        count, what, place = int(group[COUNT]), f"group {name}", _place(name, asked.request)
        if name not in present:
            kind = "is made again" if name in former else "new"
            text = f"{what}: {kind}, {count} x {' or '.join(types_of(group))}"
            yield Effect(rule="group.new", text=text, place=place, group=name)
            continue
        before = former.get(name)
        now = _count(present[name])
        if before is None or asked.is_native or int(before[COUNT]) != count:
            yield from of_count(what, name, now, count, place=(*place, "instance_count"))
        for effect in _changed_values(before or {}, group, place=place, without=(COUNT,)):
            ends = now if effect.rule == "group.image" else 0
            yield replace(effect, text=f"{what}: {effect.text}", group=name, ends=ends)
    for name in former.keys() & present.keys() - wanted.keys():
        place = _place(name, was)[:-1]
        yield of_removal(f"group {name}", name, _count(present[name]), place=place)


def _place(group: str, request: ClusterInput) -> KeyPath:
    """Return the key of a group in the configuration."""
    restricted = GROUP_LISTS[1]
    is_restricted = group in groups_of({restricted: request.get(restricted) or []})
    key = "restricted_instance_groups" if is_restricted else "instance_groups"
    return (*_CLUSTER, key, group)


def _changed_values(
    former: Mapping[str, Any],
    wanted: Mapping[str, Any],
    *,
    place: KeyPath,
    without: Iterable[str],
) -> Iterator[Effect]:
    """Yield an effect for each value that changes, by its key in the configuration."""
    before, after = (dict(_fields(each)) for each in (former, wanted))
    for member in sorted({*before, *after} - {*without}):
        old, new = before.get(member), after.get(member)
        if not former or means_the_same(old, new):
            continue
        word = _WORDS.get(member, member)
        is_plain = all(
            not isinstance(each, Mapping | Sequence) or isinstance(each, str) for each in (old, new)
        )
        text = f"{word} {_shown(old)} -> {_shown(new)}" if is_plain else f"{word} changed"
        is_image = member in _OTHER_IMAGE
        yield Effect(
            rule="group.image" if is_image else "cluster.changed",
            text=f"{text}; its nodes are replaced" if is_image else text,
            place=(*place, word) if member in _WORDS and " " not in word else place,
        )


def _fields(request: Mapping[str, Any]) -> Iterator[tuple[str, object]]:
    """Yield the members of a request, and members of members where these have keys."""
    for member, value in request.items():
        inner = {each for each in _WORDS if each.startswith(f"{member}.")}
        if inner and isinstance(value, Mapping):
            yield from ((each, value.get(each.partition(".")[2])) for each in inner)
        else:
            yield member, value


def _shown(value: object) -> str:
    if isinstance(value, Mapping) or value is None:
        return "none" if value is None else json.dumps(value)
    return ", ".join(map(str, value)) if isinstance(value, list) else str(value)


def _count(group: Group) -> int:
    return int(group.get("TargetCount", group.get(COUNT, 0)))
