"""What a deployment does to the HyperPod cluster and to Kubernetes, from two templates: pure.

The requests in the templates are compared with each other, and with what the cluster has where that
is known: a deployment changes what changed in the configuration, and leaves other numbers alone.
"""

import json
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from hyperpod_cdk import Config
from hyperpod_cdk.hyperpod.instance_group import InstanceGroupConfig, RestrictedInstanceGroupConfig
from hyperpod_cdk.hyperpod.section import ClusterConfig
from hyperpod_cdk.schema.errors import Finding, KeyPath, error
from hyperpod_cdk.schema.section import Api
from hyperpod_cli.aws.cluster_template import (
    CLUSTER_TYPES,
    ClusterResource,
    Template,
    cluster_of,
    properties_of,
)
from hyperpod_shared.cluster_changes import (
    KEYS,
    TAGS,
    Refusal,
    changed_fields,
    means_the_same,
    refusals,
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

_EKS = "AWS::EKS::Cluster"
# What CloudFormation does without a DeletionPolicy to the types that are kept here.
_DELETE = "Delete"
_NOT_KNOWN = "what changes in the HyperPod cluster is not known: its deployed template is odd"
_OTHER_IMAGE = ("ImageId", "ImageReleaseVersion")
# Attributes of the sections, by the member of the request that they become.
_WORDS = {
    mark.member: name
    for model in (ClusterConfig, RestrictedInstanceGroupConfig, InstanceGroupConfig)
    for name, field in model.model_fields.items()
    for mark in field.metadata
    if isinstance(mark, Api)
} | {"InstanceStorageConfigs": "volumes and mounts", TAGS: "tags"}


@dataclass(frozen=True, kw_only=True, slots=True)
class Consequence:
    """Something that a deployment does, and how many nodes of which group it terminates."""

    text: str
    group: str = ""
    ends: int = 0


def consequences(
    former: Template, wanted: Template, *, found: Described | None
) -> Iterator[Consequence]:
    """Yield what a deployment does to the HyperPod cluster, to Kubernetes and to what is kept.

    The former template is empty without a stack. `found` is DescribeCluster's answer: empty for no
    cluster, None if that is not known.
    """
    before, after = _version(former), _version(wanted)
    if before and after and before != after:
        yield Consequence(
            text=f"Kubernetes {before} -> {after}, which neither a rollback nor another deployment "
            "takes back (docs/kubernetes-upgrade.md)"
        )
    yield from _of_kept(former, wanted)
    asked, had = cluster_of(wanted), cluster_of(former)
    if asked is None or asked == had:
        return
    if had is None and _has_cluster(former):
        yield Consequence(text=_NOT_KNOWN)
        return
    was = {} if had is None else had.request
    there = was if found is None else found
    if was and not there:
        yield Consequence(text="the HyperPod cluster is gone, and is made again")
    yield from _of_groups(asked, was if there else {}, there)
    if there:
        yield from _changed_values("", was, asked.request, without=(*GROUP_LISTS, "ClusterName"))
        if had is not None and asked.software != had.software:
            yield Consequence(text="every group without an AMI of its own gets HyperPod's latest")


def _of_kept(former: Template, wanted: Template) -> Iterator[Consequence]:
    """Yield what was to stay when its stack is deleted, and is deleted with it from now on."""
    still = _kept(wanted)
    for name, kind in _kept(former).items():
        if name in wanted.get("Resources", ()) and name not in still:
            text = f"{name} ({kind}) is deleted with its stack from then on; it was kept"
            yield Consequence(text=text)


def _kept(template: Template) -> dict[str, object]:
    """Return the types of the resources that outlive their stack, by logical ID."""
    resources = template.get("Resources")
    return {
        name: each.get("Type")
        for name, each in (resources.items() if isinstance(resources, Mapping) else ())
        if isinstance(each, Mapping) and each.get("DeletionPolicy", _DELETE) != _DELETE
    }


def refused(former: Template, wanted: Template, *, found: Described | None) -> Iterator[Refusal]:
    """Yield the changes of the HyperPod cluster that no call makes.

    CloudFormation's own resource replaces the cluster if one of the cluster's own values changes.
    """
    asked, had = cluster_of(wanted), cluster_of(former)
    if asked is None or had is None or asked.request == had.request:
        return
    fields = changed_fields(asked.request, had.request)
    yield from refusals(
        asked.request,
        had.request if found is None else found,
        asked=frozenset() if asked.is_native or found == {} else fields,
        former=groups_of(had.request),
    )


def finding(refusal: Refusal, *, former: Template, wanted: Template, config: Config) -> Finding:
    """Return a refusal as the file's reader meets it: the key, its value, the former one."""
    path: KeyPath = ("cluster",)
    had, asked = cluster_of(former), cluster_of(wanted)
    before: ClusterInput = {} if had is None else had.request
    after: ClusterInput = {} if asked is None else asked.request
    if refusal.group is not None:
        groups = config.cluster.groups_with_paths()
        path = next(place for place, group in groups if group.name == refusal.group)
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


def _of_groups(
    asked: ClusterResource, was: ClusterInput, there: Described
) -> Iterator[Consequence]:
    wanted, former, present = groups_of(asked.request), groups_of(was), present_groups(there)
    for name, group in wanted.items():
        count = int(group[COUNT])
        if name not in present:
            kind = "is made again" if name in former else "new"
            yield Consequence(
                text=f"group {name}: {kind}, {count} x {' or '.join(types_of(group))}"
            )
            continue
        before = former.get(name)
        now = _count(present[name])
        if before is None or asked.is_native or int(before[COUNT]) != count:
            yield from of_count(f"group {name}", name, now, count)
        yield from _changed_values(f"group {name}: ", before or {}, group, without=(COUNT,))
    for name in former.keys() & present.keys() - wanted.keys():
        ends = _count(present[name])
        yield of_removal(f"group {name}", name, ends)


def of_removal(what: str, group: str, ends: int) -> Consequence:
    """Return what becomes of a group that is removed."""
    return Consequence(text=f"{what}: removed{_ending(ends)}", group=group, ends=ends)


def of_count(what: str, group: str, now: int, wanted: int) -> Iterator[Consequence]:
    """Yield what another number of nodes does, if it is another."""
    text = f"{what}: {now} -> {wanted} nodes"
    if wanted < now:
        ends = now - wanted
        yield Consequence(text=text + _ending(ends), group=group, ends=ends)
    elif wanted > now:
        yield Consequence(text=text)


def _ending(ends: int) -> str:
    if not ends:
        return ""
    if ends == 1:
        return ", 1 node is terminated, with all its volumes"
    return f", {ends} nodes are terminated, with all their volumes"


def _changed_values(
    begin: str, former: Mapping[str, Any], wanted: Mapping[str, Any], *, without: Iterable[str]
) -> Iterator[Consequence]:
    """Yield a line for each value that changes, by its key in the configuration."""
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
        image = "; its nodes are replaced" if member in _OTHER_IMAGE else ""
        yield Consequence(text=f"{begin}{text}{image}")


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


def _version(template: Template) -> str:
    found = (item.get("Version") for kind, item in properties_of(template) if kind == _EKS)
    return str(next(found, None) or "")


def _has_cluster(template: Template) -> bool:
    return any(kind in CLUSTER_TYPES for kind, _ in properties_of(template))
