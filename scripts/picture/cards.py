"""What the picture says of each resource."""

import json
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass

from scripts.picture.templates import Address, Resource, Stack, text


@dataclass(frozen=True, kw_only=True, slots=True)
class Card:
    """A box with text.

    Attributes:
        kind: What it is, as in `EKS cluster`.
        name: Which one, as in `ml-eks`; empty if its kind says it all.
        lines: What else there is to say.
        columns: Boxes inside it.
    """

    kind: str
    name: str = ""
    lines: tuple[str, ...] = ()
    columns: tuple["Column", ...] = ()

    @property
    def title(self) -> str:
        """Kind and name."""
        return f"{self.kind} {self.name}".strip()


@dataclass(frozen=True, kw_only=True, slots=True)
class Column:
    """Boxes below each other inside another box.

    Attributes:
        title: The title, such as `usw2-az1`; may be empty.
        cards: The boxes from top to bottom.
    """

    title: str
    cards: tuple[Card, ...]


@dataclass(frozen=True, kw_only=True, slots=True)
class Surroundings:
    """What a card may look at.

    Attributes:
        stack: The resource's stack.
        parts: What the picture shows inside the resource, itself included.
        hyperpod_subnets: Subnets of HyperPod clusters.
    """

    stack: Stack
    parts: Sequence[Resource]
    hyperpod_subnets: frozenset[Address]

    def of_type(self, resource_type: str) -> list[Resource]:
        """List the parts of one type."""
        return [part for part in self.parts if part.type == resource_type]


def card(resource: Resource, surroundings: Surroundings) -> Card:
    """Return what the picture says of a resource; of an unknown type, its name alone."""
    make = _CARDS.get(resource.type)
    if make is not None:
        return make(resource, surroundings)
    _, _, kind = resource.type.partition("::")
    return Card(kind=kind.replace("::", " "), name=resource.address.logical_id)


def subnets_of_clusters(stacks: Sequence[Stack]) -> frozenset[Address]:
    """Return the subnets in which HyperPod puts nodes."""
    subnets = {item.address for stack in stacks for item in stack.of_type("AWS::EC2::Subnet")}
    clusters = [item for stack in stacks for item in stack.of_type("Custom::HyperPodCluster")]
    return frozenset(address for item in clusters for address in item.needs if address in subnets)


def _vpc(vpc: Resource, around: Surroundings) -> Card:
    blocks = [
        text(block.properties["CidrBlock"]) for block in around.of_type("AWS::EC2::VPCCidrBlock")
    ]
    endpoints = [
        f"{text(item.properties['ServiceName']).rpartition('.')[2].upper()} endpoint"
        for item in around.of_type("AWS::EC2::VPCEndpoint")
    ]
    logs = ["flow log"] if around.of_type("AWS::EC2::FlowLog") else []
    gateways = ["internet gateway"] if around.of_type("AWS::EC2::VPCGatewayAttachment") else []
    zones: dict[str, list[tuple[int, Card]]] = {}
    for subnet in around.of_type("AWS::EC2::Subnet"):
        zones.setdefault(_zone(subnet), []).append(_subnet(subnet, around))
    return Card(
        kind="VPC",
        name=" + ".join([text(vpc.properties["CidrBlock"]), *blocks]),
        lines=(", ".join([*gateways, *endpoints, *logs]),),
        columns=tuple(
            Column(
                title=f"Availability Zone {zone}",
                cards=tuple(item for _, item in sorted(cards, key=lambda entry: entry[0])),
            )
            for zone, cards in sorted(zones.items())
        ),
    )


def _subnet(subnet: Resource, around: Surroundings) -> tuple[int, Card]:
    """Return a subnet's place from the top in its zone, and its card."""
    nats = [item for item in around.of_type("AWS::EC2::NatGateway") if subnet.address in item.needs]
    eks = [
        item for item in around.stack.of_type("AWS::EKS::Cluster") if subnet.address in item.needs
    ]
    route = _default_route(subnet, around)
    cidr = text(subnet.properties["CidrBlock"])
    if "GatewayId" in route:
        lines = ("NAT gateway",) if nats else ()
        return 0, Card(kind="Public subnet", name=cidr, lines=lines)
    lines = (_way_out(subnet, route, around),)
    if eks:
        return 1, Card(kind="EKS subnet", name=cidr, lines=lines)
    if subnet.address in around.hyperpod_subnets:
        return 3, Card(kind="HyperPod subnet", name=cidr, lines=("nodes and pods", *lines))
    return 2, Card(kind="Private subnet", name=cidr, lines=lines)


def _default_route(subnet: Resource, around: Surroundings) -> Mapping[str, object]:
    tables = {
        address
        for association in around.of_type("AWS::EC2::SubnetRouteTableAssociation")
        if subnet.address in association.needs
        for address in association.needs
        if address != subnet.address
    }
    for route in around.of_type("AWS::EC2::Route"):
        if tables.intersection(route.needs):
            return route.properties
    return {}


def _way_out(subnet: Resource, route: Mapping[str, object], around: Surroundings) -> str:
    stack = around.stack
    for nat in around.of_type("AWS::EC2::NatGateway"):
        if route.get("NatGatewayId") == {"Ref": nat.address.logical_id}:
            subnets = [stack.resources[name] for name in nat.needs]
            zone = next(_zone(item) for item in subnets if item.type == "AWS::EC2::Subnet")
            elsewhere = "" if zone == _zone(subnet) else f" in zone {zone}"
            return f"out through the NAT gateway{elsewhere}"
    return "no route to the internet"


def _zone(subnet: Resource) -> str:
    properties = subnet.properties
    zone = properties.get("AvailabilityZoneId", properties.get("AvailabilityZone"))
    match zone:
        case {"Fn::Select": [index, {"Fn::GetAZs": _}]}:
            return str(int(index) + 1)
        case _:
            return text(zone)


def _security_group(group: Resource, around: Surroundings) -> Card:
    rules = around.of_type("AWS::EC2::SecurityGroupIngress")
    inbound = [text(rule.properties.get("Description", "")) for rule in rules]
    return Card(
        kind="Security group",
        lines=(
            text(group.properties["GroupDescription"]),
            f"in, from itself: {'; '.join(sorted(set(inbound)))}",
        ),
    )


def _eks_cluster(cluster: Resource, around: Surroundings) -> Card:
    network = cluster.properties["ResourcesVpcConfig"]
    open_to = [
        name
        for name, key in (("public", "EndpointPublicAccess"), ("private", "EndpointPrivateAccess"))
        if network.get(key)
    ]
    addons = [text(item.properties["AddonName"]) for item in around.of_type("AWS::EKS::Addon")]
    return Card(
        kind="EKS cluster",
        name=text(cluster.properties["Name"]),
        lines=(
            f"Kubernetes {text(cluster.properties['Version'])}, "
            f"authentication mode {text(cluster.properties['AccessConfig']['AuthenticationMode'])}",
            f"{' and '.join(open_to)} endpoint",
            f"add-ons: {', '.join(addons)}",
        ),
    )


def _addon(addon: Resource, _: Surroundings) -> Card:
    return Card(kind="EKS add-on", name=text(addon.properties["AddonName"]))


def _bucket(bucket: Resource, around: Surroundings) -> Card:
    logged = len(around.of_type("AWS::S3::Bucket")) > 1
    return Card(
        kind="S3 bucket",
        name=text(bucket.properties.get("BucketName", "")),
        lines=("access logs in a second bucket",) if logged else (),
    )


def _lifecycle_scripts(scripts: Resource, _: Surroundings) -> Card:
    files = json.loads(text(scripts.properties["Keys"]))
    return Card(kind="Lifecycle scripts", lines=(f"{len(files)} files, run on each node",))


def _deletion_check(_: Resource, __: Surroundings) -> Card:
    return Card(kind="Deletion check", lines=("keeps users' objects and running jobs",))


def _function(function: Resource, around: Surroundings) -> Card:
    machines = around.of_type("AWS::StepFunctions::StateMachine")
    if not machines:
        return Card(kind="Lambda function", name=function.address.logical_id)
    functions = around.of_type("AWS::Lambda::Function")
    return Card(
        kind="Provisioner",
        lines=(
            "serves the custom resources",
            f"{len(functions)} Lambda functions, {len(machines)} Step Functions state machine",
        ),
    )


def _role(role: Resource, _: Surroundings) -> Card:
    policies = [
        text(arn).rpartition("/")[2] for arn in role.properties.get("ManagedPolicyArns", ())
    ]
    return Card(
        kind="IAM role",
        name=text(role.properties.get("RoleName", "")),
        lines=(text(role.properties.get("Description", "")), *policies),
    )


def _file_system(system: Resource, around: Surroundings) -> Card:
    lustre = system.properties.get("LustreConfiguration", {})
    kept = ("kept when the stack is deleted",) if system.deletion_policy == "Retain" else ()
    buckets = tuple(
        f"linked to {text(item.properties['DataRepositoryPath'])}"
        for item in around.of_type("AWS::FSx::DataRepositoryAssociation")
    )
    return Card(
        kind="FSx for Lustre",
        lines=(
            f"{text(system.properties['StorageCapacity'])} GiB, "
            f"{text(lustre.get('PerUnitStorageThroughput'))} MB/s/TiB",
            *buckets,
            *kept,
        ),
    )


def _file_system_availability(_: Resource, __: Surroundings) -> Card:
    return Card(kind="Availability", lines=("waits until the file system can be mounted",))


def _helm_release(release: Resource, _: Surroundings) -> Card:
    namespace = text(release.properties["Namespace"])
    return Card(
        kind="Helm release",
        name=text(release.properties["Release"]),
        lines=(f"namespace {namespace}",),
    )


def _hyperpod_cluster(cluster: Resource, _: Surroundings) -> Card:
    request = json.loads(text(cluster.properties["Request"]))
    groups = [*request.get("InstanceGroups", ()), *request.get("RestrictedInstanceGroups", ())]
    half = (len(groups) + 1) // 2
    cards = [_instance_group(group) for group in groups]
    provisioning = request.get("NodeProvisioningMode", "all-or-nothing")
    return Card(
        kind="HyperPod cluster",
        name=text(cluster.properties["ClusterName"]),
        lines=(f"node recovery {request.get('NodeRecovery')}, provisioning {provisioning}",),
        columns=tuple(
            Column(title="", cards=tuple(part)) for part in (cards[:half], cards[half:]) if part
        ),
    )


def _instance_group(group: Mapping[str, object]) -> Card:
    requirements = group.get("InstanceRequirements")
    several = requirements["InstanceTypes"] if isinstance(requirements, Mapping) else ()
    types = " or ".join(several) or str(group.get("InstanceType"))
    return Card(
        kind="Instance group",
        name=str(group["InstanceGroupName"]),
        lines=(f"{group['InstanceCount']} of {types}",),
    )


_CARDS: Mapping[str, Callable[[Resource, Surroundings], Card]] = {
    "AWS::EC2::SecurityGroup": _security_group,
    "AWS::EC2::VPC": _vpc,
    "AWS::EKS::Addon": _addon,
    "AWS::EKS::Cluster": _eks_cluster,
    "AWS::FSx::FileSystem": _file_system,
    "AWS::IAM::Role": _role,
    "AWS::Lambda::Function": _function,
    "AWS::S3::Bucket": _bucket,
    "Custom::DeletionCheck": _deletion_check,
    "Custom::FileSystemAvailability": _file_system_availability,
    "Custom::HelmRelease": _helm_release,
    "Custom::HyperPodCluster": _hyperpod_cluster,
    "Custom::LifecycleScripts": _lifecycle_scripts,
}
