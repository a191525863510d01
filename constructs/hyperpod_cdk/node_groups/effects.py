"""What a change does to the nodes of EKS node groups, and what EKS refuses: pure.

EKS replaces the nodes of a group for another launch template, AMI or version of Kubernetes, and
CloudFormation takes such a change alone: https://github.com/aws/containers-roadmap/issues/1258. A
group in a Capacity Block must have no nodes then:
https://docs.aws.amazon.com/eks/latest/userguide/capacity-blocks-mng.html
"""

import json
import re
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, replace
from functools import partial
from typing import Any

from hyperpod_cdk.effects.effect import Effect, Properties, StackState, Template, properties_of
from hyperpod_cdk.effects.nodes import of_count, of_removal
from hyperpod_cdk.node_groups.section import ManagedNodeGroupConfig
from hyperpod_cdk.schema.errors import Finding, Findings, error

_GROUP, _CAPACITY_BLOCK = "AWS::EKS::Nodegroup", "CAPACITY_BLOCK"
_IN_PLACE = ("Labels", "Taints", "Tags", "ScalingConfig", "UpdateConfig", "NodeRepairConfig")
# Keys of the configuration, by the member that they become where that has another name.
_KEYS = {
    "Enabled": "node_repair",
    "KmsKeyId": "encryption",
    "MetadataOptions": "http_put_response_hop_limit",
    "Monitoring": "detailed_monitoring",
    # `efa` cannot change.
    "NetworkInterfaces": "network.security_group_id",
    "Placement": "placement_group",
    "SecurityGroupIds": "network.security_group_id",
    "TagSpecifications": "tags",
    "Tags": "operators.cluster_autoscaler",
    "UserData": "raid0",
    "Version": "eks.version",
    "VolumeSize": "volume_size_gib",
}


@dataclass(frozen=True, kw_only=True, slots=True)
class _Change:
    """What changes of a group that stays: members for which EKS replaces the nodes, and others.

    Both are by name, with the new values.
    """

    name: str
    replacing: Mapping[str, Any]
    in_place: Mapping[str, Any]
    former: Properties

    @property
    def needs_no_nodes(self) -> bool:
        """Whether it is in a Capacity Block, whose nodes are not replaced."""
        return bool(self.replacing) and self.former.get("CapacityType") == _CAPACITY_BLOCK


def effects(former: StackState, wanted: StackState) -> Iterator[Effect]:
    """Yield what a change does to the nodes of EKS node groups."""
    for effect in _effects(former, wanted):
        named = {
            logical_id
            for state in (former, wanted)
            for logical_id, group in state.of_type(_GROUP).items()
            if group.get("NodegroupName") == effect.group
        }
        yield replace(effect, resources=frozenset(named))


def _effects(former: StackState, wanted: StackState) -> Iterator[Effect]:
    templates = former.template, wanted.template
    before, after = map(_groups, templates)
    make = partial(Effect, is_managed=True)
    for name, group in after.items():
        what, place = f"node group {name}", ("node_groups", name)
        if name in before:
            yield from _of_sizes(what, name, before[name], group, templates=templates)
        else:
            # In a Capacity Block, the launch template has the type.
            own = group.get("InstanceTypes")
            types = own or [_replacing(group, wanted.template).get("InstanceType", "")]
            text = f"{what}: new, {size_of(group, wanted.template)} x {' or '.join(types)}"
            yield make(rule="group.new", text=text, place=place, group=name)
    changed = [each for each in _changes(*templates) if each.replacing]
    replaced = [each for each in changed if not each.needs_no_nodes]
    for each in replaced:
        keys = ", ".join(map(_key, each.replacing))
        text = f"node group {each.name}: its nodes are replaced, for {keys}"
        place = ("node_groups", each.name)
        ends = _most(after[each.name], wanted.template)
        yield make(rule="group.nodes-replaced", text=text, place=place, group=each.name, ends=ends)
    if len(replaced) > 1:
        text = "if one of these node groups fails, the others are rolled back"
        yield make(rule="groups.one-update", text=text, place=("node_groups",))
    for name, group in before.items():
        if name not in after:
            yield _of_removed(name, group, former.template)


def _of_removed(name: str, group: Properties, former: Template) -> Effect:
    what, place = f"node group {name}", ("node_groups",)
    if not _is_autoscaled(group):
        return of_removal(what, name, size_of(group, former), place=place, is_managed=True)
    return Effect(
        rule="group.removed",
        text=f"{what}: removed, and all its nodes are terminated, with all their volumes",
        place=place,
        group=name,
        ends=_most(group, former),
        is_managed=True,
    )


def _of_sizes(
    what: str,
    name: str,
    had: Properties,
    has: Properties,
    *,
    templates: tuple[Template, Template],
) -> Iterator[Effect]:
    """Yield what other sizes do; those that the Cluster Autoscaler has given are not known here."""
    before, after = had["ScalingConfig"], has["ScalingConfig"]
    wanted, place = size_of(has, templates[1]), ("node_groups", name)
    make = partial(Effect, group=name, is_managed=True)
    if not _is_autoscaled(had) and not _is_autoscaled(has):
        now, size = size_of(had, templates[0]), (*place, "desired_size")
        yield from of_count(what, name, now, wanted, place=size, is_managed=True)
    elif not _is_autoscaled(has):
        text = f"{what}: the Cluster Autoscaler's size -> {wanted} nodes"
        size = (*place, "desired_size")
        yield make(rule="group.not-autoscaled", text=text, place=size, loses=True)
    elif after["MaxSize"] < before["MaxSize"]:
        text = f"{what}: at most {before['MaxSize']} -> {after['MaxSize']} nodes; others terminate"
        # How many there are, and so how many end, only EKS knows.
        yield make(rule="group.max-size", text=text, place=(*place, "max_size"), loses=True)


def _most(group: Properties, template: Template) -> int:
    """Return how many nodes a group has at the most."""
    if _is_autoscaled(group):
        return int(group["ScalingConfig"]["MaxSize"])
    return size_of(group, template)


def _is_autoscaled(group: Properties) -> bool:
    return isinstance(group["ScalingConfig"]["DesiredSize"], Mapping)


def refusals(former: StackState, wanted: StackState) -> Findings:
    """Yield what EKS refuses to change in one deployment, or while a group has nodes.

    Others than CloudFormation may have changed the size of a group: what EKS says counts, and where
    that is not known, the former template.
    """
    for each in _changes(former.template, wanted.template):
        replacing, in_place = (
            [_key(name) for name in names] for names in (each.replacing, each.in_place)
        )
        stated = each.former["ScalingConfig"]["DesiredSize"]
        found = former.node_groups.get(each.name)
        size = stated if found is None else found.get("scalingConfig", {}).get("desiredSize", 0)
        if replacing and in_place:
            alone, rest = ", ".join(replacing), ", ".join(in_place)
            # After an update that has failed, CloudFormation has the launch template as another
            # version, which goes with the first change of the group.
            first, then = (rest, alone) if each.needs_no_nodes else (alone, rest)
            yield _finding(
                each.name,
                each.in_place,
                f"changes together with {alone}, which replaces the nodes and which EKS takes "
                f"alone; deploy {first} first, with the former {then}, and then {then}",
            )
        # One that is looked up, where the Cluster Autoscaler decides, only EKS knows.
        elif each.needs_no_nodes and isinstance(size, int) and size:
            first = (
                f"deploy desired_size: 0 first, with the former {', '.join(replacing)}, then this, "
                "then the former size"
                if found is None or (isinstance(stated, int) and stated)
                # CloudFormation changes no size that the former template has, or that it looks up.
                else f"run: aws eks update-nodegroup-config --cluster-name "
                f"{found['clusterName']} --nodegroup-name {each.name} --scaling-config "
                "minSize=0,desiredSize=0; then deploy again"
            )
            yield _finding(
                each.name,
                each.replacing,
                f"changes while the group has nodes ({size}), which EKS refuses in a Capacity "
                f"Block; {first}",
            )


def _finding(group: str, changed: Mapping[str, Any], message: str) -> Finding:
    """Return a refusal at the first key that changed; at the group's name if it has no such key."""
    member, value = next(iter(changed.items()))
    key, place = _key(member), ("node_groups", group)
    if key in ManagedNodeGroupConfig.model_fields:
        return error((*place, key), value, message)
    return error((*place, "name"), group, f"{key} {message}")


def _key(member: str) -> str:
    """Return the key of the configuration that becomes a member of a group or its template."""
    return _KEYS.get(member, re.sub(r"(?<=[a-z])(?=[A-Z])", "_", member).lower())


def _changes(former: Template, wanted: Template) -> Iterator[_Change]:
    before = _groups(former)
    for name, group in _groups(wanted).items():
        if name in before:
            had = before[name]
            yield _Change(
                name=name,
                replacing=_differing(_replacing(had, former), _replacing(group, wanted)),
                in_place=_differing(_in_place(had, former), _in_place(group, wanted)),
                former=had,
            )


def _differing(had: Properties, has: Properties) -> dict[str, Any]:
    return {name: has.get(name) for name in {**had, **has} if had.get(name) != has.get(name)}


def _groups(template: Template) -> dict[str, Properties]:
    return {
        str(each.get("NodegroupName")): each
        for kind, each in properties_of(template)
        if kind == _GROUP
    }


def _replacing(group: Properties, template: Template) -> Properties:
    """Return the data of the launch template, the AMI's release, and Kubernetes' version."""
    version = group.get("LaunchTemplate", {}).get("Version")
    data = {**_referred(version, template).get("LaunchTemplateData", {})}
    [volume] = data.pop("BlockDeviceMappings", [{}])
    reserved = data.pop("CapacityReservationSpecification", {})
    own = {name: group.get(name) for name in ("ReleaseVersion", "Version")}
    return {
        **data,
        **volume.get("Ebs", {}),
        **reserved.get("CapacityReservationTarget", {}),
        **own,
    }


def _in_place(group: Properties, template: Template) -> Properties:
    values: dict[str, Any] = {}
    for name in _IN_PLACE:
        value = group.get(name)
        values |= value if name.endswith("Config") and isinstance(value, Mapping) else {name: value}
    return {**values, "DesiredSize": size_of(group, template)}


def size_of(group: Properties, template: Template) -> int:
    """Return the wanted size of a group; one that is looked up is what it was to be at first."""
    size = group.get("ScalingConfig", {}).get("DesiredSize", 0)
    looked_up = _referred(size, template)
    return int(json.loads(looked_up["Scaling"])["DesiredSize"] if looked_up else size)


def _referred(value: object, template: Template) -> Properties:
    """Return the properties of the resource of which a value is an attribute; empty of others."""
    match value:
        case {"Fn::GetAtt": [str(name), _]}:
            return dict(template["Resources"][name]["Properties"])
    return {}
