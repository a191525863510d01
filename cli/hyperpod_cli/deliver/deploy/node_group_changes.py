"""What a deployment does to the nodes of EKS node groups, and what EKS refuses: pure.

EKS replaces the nodes of a group for another launch template, AMI or version of Kubernetes, and
CloudFormation takes such a change alone: https://github.com/aws/containers-roadmap/issues/1258. A
group in a Capacity Block must have no nodes then:
https://docs.aws.amazon.com/eks/latest/userguide/capacity-blocks-mng.html
"""

import json
import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from hyperpod_cdk import Config
from hyperpod_cdk.schema.errors import Finding, error
from hyperpod_cli.aws.cluster_template import Template, properties_of
from hyperpod_cli.deliver.deploy.consequences import Consequence, of_count, of_removal

_GROUP, _CAPACITY_BLOCK = "AWS::EKS::Nodegroup", "CAPACITY_BLOCK"
_IN_PLACE = ("Labels", "Taints", "Tags", "ScalingConfig", "UpdateConfig", "NodeRepairConfig")
# Keys of the configuration, by the member that they become where that has another name.
_KEYS = {
    "Enabled": "node_repair",
    "KmsKeyId": "encryption",
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

Values = Mapping[str, Any]


@dataclass(frozen=True, kw_only=True, slots=True)
class _Change:
    """What changes of a group that stays: members for which EKS replaces the nodes, and others."""

    name: str
    replacing: Sequence[str]
    in_place: Sequence[str]
    former: Values

    @property
    def needs_no_nodes(self) -> bool:
        """Whether it is in a Capacity Block, whose nodes are not replaced."""
        return bool(self.replacing) and self.former.get("CapacityType") == _CAPACITY_BLOCK


def consequences(former: Template, wanted: Template) -> Iterator[Consequence]:
    """Yield what a deployment does to the nodes of EKS node groups."""
    before, after = _groups(former), _groups(wanted)
    for name, group in after.items():
        what = f"node group {name}"
        if name in before:
            yield from _of_sizes(what, name, before[name], group, templates=(former, wanted))
        else:
            # In a Capacity Block, the launch template has the type.
            types = " or ".join(
                group.get("InstanceTypes") or [_replacing(group, wanted).get("InstanceType", "")]
            )
            yield Consequence(text=f"{what}: new, {size_of(group, wanted)} x {types}")
    found = [each for each in _changes(former, wanted) if each.replacing]
    replaced = [each for each in found if not each.needs_no_nodes]
    for each in replaced:
        keys = ", ".join(map(_key, each.replacing))
        text = f"node group {each.name}: its nodes are replaced, for {keys}"
        yield Consequence(text=text)
    if len(replaced) > 1:
        yield Consequence(text="if one of these node groups fails, the others are rolled back")
    for name, group in before.items():
        what = f"node group {name}"
        if name in after:
            continue
        if _is_autoscaled(group):
            most = group["ScalingConfig"]["MaxSize"]
            text = f"{what}: removed, and all its nodes are terminated, with all their volumes"
            yield Consequence(text=text, group=name, ends=most)
        else:
            yield of_removal(what, name, size_of(group, former))


def _of_sizes(
    what: str, name: str, had: Values, has: Values, *, templates: tuple[Template, Template]
) -> Iterator[Consequence]:
    """Yield what other sizes do; those that the Cluster Autoscaler has given are not known here."""
    before, after = had["ScalingConfig"], has["ScalingConfig"]
    wanted = size_of(has, templates[1])
    if not _is_autoscaled(had) and not _is_autoscaled(has):
        yield from of_count(what, name, size_of(had, templates[0]), wanted)
    elif not _is_autoscaled(has):
        yield Consequence(text=f"{what}: the Cluster Autoscaler's size -> {wanted} nodes")
    elif after["MaxSize"] < before["MaxSize"]:
        text = f"{what}: at most {before['MaxSize']} -> {after['MaxSize']} nodes; others terminate"
        yield Consequence(text=text)


def _is_autoscaled(group: Values) -> bool:
    return isinstance(group["ScalingConfig"]["DesiredSize"], Mapping)


def refused_changes(
    former: Template, wanted: Template, *, config: Config, sizes: Mapping[str, int]
) -> Iterator[Finding]:
    """Yield what EKS refuses to change in one deployment, or while a group has nodes.

    `sizes` are the wanted ones of groups as EKS says: others than CloudFormation may have changed
    them. A group that is not among them has that of the former template.
    """
    for each in _changes(former, wanted):
        replacing, in_place = (
            [_key(name) for name in names] for names in (each.replacing, each.in_place)
        )
        stated = each.former["ScalingConfig"]["DesiredSize"]
        size = sizes.get(each.name, stated)
        if replacing and in_place:
            alone, rest = ", ".join(replacing), ", ".join(in_place)
            # After an update that has failed, CloudFormation has the launch template as another
            # version, which goes with the first change of the group.
            first, then = (rest, alone) if each.needs_no_nodes else (alone, rest)
            yield _finding(
                each.name,
                in_place[0],
                f"changes together with {alone}, which replaces the nodes and which EKS takes "
                f"alone; deploy {first} first, with the former {then}, and then {then}",
                config=config,
            )
        # One that is looked up, where the Cluster Autoscaler decides, only EKS knows.
        elif each.needs_no_nodes and isinstance(size, int) and size:
            first = (
                f"deploy desired_size: 0 first, with the former {', '.join(replacing)}, then this, "
                "then the former size"
                if isinstance(stated, int) and stated
                # CloudFormation changes no size that the former template has, or that it looks up.
                else f"run: aws eks update-nodegroup-config --cluster-name "
                f"{config.eks_cluster_name} --nodegroup-name {each.name} --scaling-config "
                "minSize=0,desiredSize=0; then deploy again"
            )
            yield _finding(
                each.name,
                replacing[0],
                f"changes while the group has nodes ({size}), which EKS refuses in a Capacity "
                f"Block; {first}",
                config=config,
            )


def _finding(name: str, key: str, message: str, *, config: Config) -> Finding:
    [index] = [i for i, each in enumerate(config.node_groups) if each.name == name]
    group = config.node_groups[index]
    if key in type(group).model_fields:
        return error(("node_groups", index, key), getattr(group, key), message)
    return error(("node_groups", index, "name"), name, f"{key} {message}")


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


def _differing(had: Values, has: Values) -> list[str]:
    return [name for name in {**had, **has} if had.get(name) != has.get(name)]


def _groups(template: Template) -> dict[str, Values]:
    return {
        str(each.get("NodegroupName")): each
        for kind, each in properties_of(template)
        if kind == _GROUP
    }


def _replacing(group: Values, template: Template) -> Values:
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


def _in_place(group: Values, template: Template) -> Values:
    values: dict[str, Any] = {}
    for name in _IN_PLACE:
        value = group.get(name)
        values |= value if name.endswith("Config") and isinstance(value, Mapping) else {name: value}
    return {**values, "DesiredSize": size_of(group, template)}


def size_of(group: Values, template: Template) -> int:
    """Return the wanted size of a group; one that is looked up is what it was to be at first."""
    size = group.get("ScalingConfig", {}).get("DesiredSize", 0)
    looked_up = _referred(size, template)
    return int(json.loads(looked_up["Scaling"])["DesiredSize"] if looked_up else size)


def _referred(value: object, template: Template) -> Values:
    """Return the properties of the resource of which a value is an attribute; empty of others."""
    match value:
        case {"Fn::GetAtt": [str(name), _]}:
            return dict(template["Resources"][name]["Properties"])
    return {}
