"""What is made of several keys of an eksctl ClusterConfig: name, sizes of groups, network."""

import re
from collections.abc import Iterator, Mapping, Sequence
from ipaddress import IPv4Network
from itertools import islice
from typing import Any

from hyperpod_cdk.facts.service_limits import regions
from hyperpod_cdk.network.rules import ZONES_WITHOUT_EKS
from hyperpod_cdk.schema.availability_zones import is_zone_name
from hyperpod_cdk.schema.errors import KeyPath
from hyperpod_cli.deliver.eksctl.reading import Draft, value_at
from hyperpod_cli.deliver.init.questions import known_zones

# https://docs.aws.amazon.com/eks/latest/eksctl/schema.html
_DEFAULT_TYPE, _DEFAULT_NODES, _DEFAULT_GIB = "m5.large", 2, 80
_LONGEST_NAME = 20
_SMALLEST, _FEWEST_ZONES = 28, 2
_SUBNET_ID = re.compile(r"subnet-[0-9a-f]{8}([0-9a-f]{9})?")
_GROUPS, _SUBNETS = "managedNodeGroups", ("vpc", "subnets", "private")
_ENDPOINTS = {(True, True): "public_and_private", (True, False): "public", (False, True): "private"}


def compose(draft: Draft, source: Mapping[str, Any]) -> None:
    """Put what is made of several keys of eksctl's file, and its defaults, into a draft."""
    _add_name(draft, source)
    for index, group in enumerate(_list(source.get(_GROUPS))):
        if isinstance(group, Mapping):
            _add_defaults(draft, group, index=index)
    _add_endpoint_access(draft, _mapping(source, "vpc", "clusterEndpoints"))
    subnets = dict(_subnets(draft, _mapping(source, *_SUBNETS)))
    vpc_id = _mapping(source, "vpc").get("id")
    missing = _missing_of_vpc(vpc_id, subnets=subnets, region=draft.document.get("region"))
    zones: Mapping[str, str] = {}
    if vpc_id is not None and not missing:
        zones = _add_subnets(draft, subnets)
    else:
        _add_new_network(draft, source)
    if missing:
        if vpc_id is not None:
            draft.remove(("network", "vpc_id"))
        origin: KeyPath = ("vpc", "id") if vpc_id is not None else _SUBNETS
        message = f"{missing}, and import again; this file makes another VPC"
        draft.decide(("network",), origin=origin, value=value_at(source, origin), message=message)
    _add_zones_of_groups(draft, source, zones=zones)
    named_in = "availabilityZones" if "availabilityZones" in source else _GROUPS
    _replace_names(draft, origin=(named_in,))
    # What is no group left an empty one in its position.
    for index in reversed(range(len(draft.document.get("node_groups", ())))):
        if not draft.document["node_groups"][index]:
            draft.remove(("node_groups", index))
    draft.document.setdefault("cluster", None)
    draft.document.setdefault("storage", None)


def _mapping(source: Mapping[str, Any], *path: str) -> Mapping[str, Any]:
    """Return a section of eksctl's file; an empty one if there is none."""
    found = value_at(source, path)
    return found if isinstance(found, Mapping) else {}


def _list(value: object) -> Sequence[Any]:
    return value if isinstance(value, list) else ()


def _add_name(draft: Draft, source: Mapping[str, Any]) -> None:
    """Name the deployment as the cluster, as far as its name can be one."""
    given = str(_mapping(source, "metadata").get("name", ""))
    name = re.sub(r"[^a-z0-9]+", "-", given.lower())[:_LONGEST_NAME].strip("-")
    origin: KeyPath = ("metadata", "name")
    draft.set(("name",), name, origin=origin)
    if name != given:
        message = f"is no name of a deployment, which is {name}: the names of its stacks begin so"
        draft.decide(("name",), origin=origin, value=given, message=message)


def _add_defaults(draft: Draft, group: Mapping[str, Any], *, index: int) -> None:
    """Add the sizes of a group, and what eksctl takes for what it leaves out."""
    desired, least, most = (group.get(key) for key in ("desiredCapacity", "minSize", "maxSize"))
    least = least if least is not None else _DEFAULT_NODES if desired is None else desired
    desired = desired if desired is not None else least
    sizes = {
        "min_size": least,
        "desired_size": desired,
        "max_size": desired if most is None else most,
    }
    origins = {
        "min_size": ("minSize", "desiredCapacity"),
        "desired_size": ("desiredCapacity", "minSize"),
        "max_size": ("maxSize", "desiredCapacity", "minSize"),
    }
    for key, size in sizes.items():
        given = next((each for each in origins[key] if each in group), origins[key][0])
        draft.set(("node_groups", index, key), size, origin=(_GROUPS, index, given))
    if sizes["max_size"] == 0:
        # EKS refuses it, and an autoscaler may then add none.
        draft.document["node_groups"][index]["max_size"] = 1
    types = {"instanceType", "instanceTypes", "instanceSelector", "launchTemplate"}
    left_out = {
        **({} if types & group.keys() else {"instance_types": [_DEFAULT_TYPE]}),
        **(
            {}
            if {"volumeSize", "launchTemplate"} & group.keys()
            else {"volume_size_gib": _DEFAULT_GIB}
        ),
    }
    for key, value in left_out.items():
        draft.set(("node_groups", index, key), value, origin=(_GROUPS, index))


def _add_endpoint_access(draft: Draft, endpoints: Mapping[str, Any]) -> None:
    """Say from where the API server is reached; eksctl opens the public endpoint alone."""
    if not endpoints:
        return
    wanted = endpoints.get("publicAccess", True), endpoints.get("privateAccess", False)
    origin = ("vpc", "clusterEndpoints")
    access = _ENDPOINTS.get(wanted)
    if access is None:
        draft.say(origin, dict(endpoints), "one of the endpoints must be there")
    else:
        draft.set(("eks", "endpoint_access"), access, origin=origin)


def _add_new_network(draft: Draft, source: Mapping[str, Any]) -> None:
    """Add a subnet for nodes in each zone, and the way out that eksctl makes."""
    origin: KeyPath = ("vpc",)
    if not _mapping(source, "vpc", "nat"):
        draft.set(("network", "nat_gateways"), "single", origin=origin)
    given = _list(source.get("availabilityZones"))
    zones = [*given] or [*_zones_of_groups(source)]
    region = str(draft.document.get("region"))
    if not given and region in ZONES_WITHOUT_EKS.values():
        given = [*zones, *known_zones(region)[len(zones) : _FEWEST_ZONES]]
        draft.set(("network", "availability_zone_ids"), given, origin=origin)
    cidr = _mapping(source, "vpc").get("cidr")
    public = [f"10.192.{number}.0/24" for number in range(10, 10 + len(given))]
    nodes: Iterator[str] = (f"10.{number}.0.0/16" for number in range(1, 192))
    if isinstance(cidr, str):
        whole = _block(cidr)
        if whole is None:
            return
        first, second = whole.subnets()
        small = first.subnets(new_prefix=min(_SMALLEST, whole.prefixlen + 4))
        public = [str(each) for each in islice(small, max(_FEWEST_ZONES, len(given)))]
        eks = [str(each) for each in [*first.subnets(new_prefix=_SMALLEST)][-_FEWEST_ZONES:]]
        draft.set(("network", "eks_subnet_cidrs"), eks, origin=("vpc", "cidr"))
        nodes = map(str, second.subnets(prefixlen_diff=max(len(zones) - 1, 0).bit_length()))
    if public:
        draft.set(("network", "public_subnet_cidrs"), public, origin=("availabilityZones",))
    for index, zone in enumerate(zones or [None]):
        if zone is None and not isinstance(cidr, str):
            return
        path: KeyPath = ("network", "hyperpod_subnets", index)
        draft.set((*path, "cidr"), next(nodes), origin=origin)
        if zone is not None:
            draft.set((*path, "availability_zone_id"), zone, origin=("availabilityZones",))


def _block(cidr: str) -> IPv4Network | None:
    """Return a block that has room for the subnets of a network."""
    try:
        network = IPv4Network(cidr)
    except ValueError:
        return None
    return network if network.prefixlen <= _SMALLEST - 3 else None


def _zones_of_groups(source: Mapping[str, Any]) -> Iterator[str]:
    groups = [each for each in _list(source.get(_GROUPS)) if isinstance(each, Mapping)]
    yield from dict.fromkeys(
        zone
        for each in groups
        for zone in _list(each.get("availabilityZones"))
        if isinstance(zone, str)
    )


def _subnets(draft: Draft, given: Mapping[str, Any]) -> Iterator[tuple[str, Mapping[str, Any]]]:
    """Yield the private subnets that have an ID, by their names; say which have none."""
    for name, subnet in given.items():
        if isinstance(subnet, Mapping) and _SUBNET_ID.fullmatch(str(subnet.get("id"))):
            yield name, subnet
        elif isinstance(subnet, Mapping):
            message = (
                "its id must be the ID of a subnet that exists, such as subnet-0123456789abcdef0"
            )
            draft.say((*_SUBNETS, name), subnet, message)


def _missing_of_vpc(vpc_id: object, *, subnets: Mapping[str, Any], region: object) -> str:
    """Return what must be said before a VPC that exists can be used; nothing if all is there."""
    if vpc_id is None:
        return "needs vpc.id, which eksctl looks up: write it" if subnets else ""
    if region not in regions():
        return "needs metadata.region, to name its subnets' zones: write it"
    enough = len(subnets) >= _FEWEST_ZONES
    return "" if enough else "needs two subnets with their id in vpc.subnets.private: write them"


def _add_subnets(draft: Draft, subnets: Mapping[str, Mapping[str, Any]]) -> Mapping[str, str]:
    """Add the private subnets of a VPC that exists, and return their zones by name and ID."""
    zones: dict[str, str] = {}
    letters = iter("abcdefgh")
    for index, (name, subnet) in enumerate(subnets.items()):
        origin: KeyPath = (*_SUBNETS, name)
        zone = subnet.get("az") or (name if is_zone_name(name) else None)
        path: KeyPath = ("network", "hyperpod_subnets", index)
        draft.set((*path, "subnet_id"), subnet["id"], origin=(*origin, "id"))
        known = zone or f"{draft.document['region']}{next(letters, 'a')}"
        draft.set((*path, "availability_zone_id"), known, origin=origin)
        zones |= {name: known, subnet["id"]: known}
        if zone is None:
            message = f"must be in the zone that its subnet is in, for which {known} stands"
            draft.decide(
                path,
                origin=origin,
                value=subnet["id"],
                message=f"{message}: `aws ec2 describe-subnets --subnet-ids <id>` shows it",
            )
    ids = [subnet["id"] for subnet in subnets.values()]
    draft.set(("network", "eks_subnet_ids"), ids, origin=_SUBNETS)
    return zones


def _add_zones_of_groups(
    draft: Draft, source: Mapping[str, Any], *, zones: Mapping[str, str]
) -> None:
    """Add the zone of each group that names one subnet."""
    for index, group in enumerate(_list(source.get(_GROUPS))):
        named = _list(group.get("subnets")) if isinstance(group, Mapping) else ()
        if len(named) == 1:
            origin = (_GROUPS, index, "subnets")
            if str(named[0]) in zones:
                path = ("node_groups", index, "availability_zone_id")
                draft.set(path, zones[str(named[0])], origin=origin)
            else:
                message = (
                    "it is none of the subnets that are carried; set availability_zone_id of the "
                    "group"
                )
                draft.say(origin, named, message)


def _replace_names(draft: Draft, *, origin: KeyPath) -> None:
    """Put IDs in the place of zones' names where a name may be of a zone that EKS refuses."""
    region = str(draft.document.get("region"))
    if region not in ZONES_WITHOUT_EKS.values():
        return
    ids: dict[str, str] = {}
    left = iter(known_zones(region))

    def stand_in(zone: object) -> object:
        if not isinstance(zone, str) or not is_zone_name(zone):
            return zone
        if zone not in ids:
            ids[zone] = next(left, zone)
        return ids[zone]

    network = draft.document.get("network", {})
    if isinstance(network.get("availability_zone_ids"), list):
        network["availability_zone_ids"] = [*map(stand_in, network["availability_zone_ids"])]
    for entry in (*network.get("hyperpod_subnets", ()), *draft.document.get("node_groups", ())):
        if "availability_zone_id" in entry:
            entry["availability_zone_id"] = stand_in(entry["availability_zone_id"])
    for name, zone in ids.items():
        message = f"is a name of your account's, for which {zone} stands, which need not be its ID"
        draft.decide(("network",), origin=origin, value=name, message=message)
