"""Which resources a person thinks of, and which are parts of them."""

from collections.abc import Iterator, Mapping, Sequence

from hyperpod_cli.aws.assembly import Address, Resource, Stack

_VPC, _EKS = "AWS::EC2::VPC", "AWS::EKS::Cluster"

# Types of parts, and the type that each belongs to if it refers to one in the same stack.
_WHOLE = {
    "AWS::EC2::EIP": _VPC,
    "AWS::EC2::FlowLog": _VPC,
    "AWS::EC2::InternetGateway": _VPC,
    "AWS::EC2::NatGateway": _VPC,
    "AWS::EC2::Route": _VPC,
    "AWS::EC2::RouteTable": _VPC,
    "AWS::EC2::SecurityGroupEgress": "AWS::EC2::SecurityGroup",
    "AWS::EC2::SecurityGroupIngress": "AWS::EC2::SecurityGroup",
    "AWS::EC2::Subnet": _VPC,
    "AWS::EC2::SubnetRouteTableAssociation": _VPC,
    "AWS::EC2::VPCCidrBlock": _VPC,
    "AWS::EC2::VPCEndpoint": _VPC,
    "AWS::EC2::VPCGatewayAttachment": _VPC,
    "AWS::EKS::Addon": _EKS,
    "AWS::EKS::PodIdentityAssociation": _EKS,
    "AWS::FSx::DataRepositoryAssociation": "AWS::FSx::FileSystem",
    "AWS::S3::BucketPolicy": "AWS::S3::Bucket",
}
# Not drawn unless they are parts: permissions, logs, and what only joins two other resources.
_BETWEEN = {
    "AWS::CDK::Metadata",
    "AWS::EC2::EIP",
    "AWS::EC2::InternetGateway",
    "AWS::EKS::AccessEntry",
    "AWS::IAM::ManagedPolicy",
    "AWS::IAM::Policy",
    "AWS::Lambda::LayerVersion",
    "AWS::Lambda::Permission",
    "AWS::Logs::LogGroup",
}
# These name a role to give it permissions; they do not run as it.
_GRANTS = {"AWS::IAM::ManagedPolicy", "AWS::IAM::Policy", "AWS::EKS::AccessEntry"}


def owners(stacks: Sequence[Stack]) -> Mapping[Address, Address]:
    """Return for each resource the one that the picture shows it in; a drawn one shows itself.

    Policies, log groups and the like are missing: they are drawn nowhere.
    """
    resources = {address: item for stack in stacks for address, item in stack.resources.items()}
    owner = dict(_providers(resources))
    for resource in resources.values():
        if resource.address not in owner and resource.type in _WHOLE:
            for found in _reached(resource, resources):
                if found.type == _WHOLE[resource.type]:
                    owner[resource.address] = found.address
                    break
    for resource in resources.values():
        for named in _run_under_or_logged_to(resource, resources):
            owner.setdefault(named, owner.get(resource.address, resource.address))
    for resource in resources.values():
        if resource.type not in _BETWEEN:
            owner.setdefault(resource.address, resource.address)
    return {address: _outermost(address, owner) for address in owner}


def needs(
    drawn: Address, *, owner: Mapping[Address, Address], resources: Mapping[Address, Resource]
) -> list[Address]:
    """List the drawn resources that one needs, directly or through what is drawn nowhere."""
    pending = [address for address, whole in owner.items() if whole == drawn]
    seen = set(pending)
    found = set()
    while pending:
        for address in resources[pending.pop()].needs:
            if address in seen:
                continue
            seen.add(address)
            if address in owner:
                found.add(owner[address])
            else:
                pending.append(address)
    return sorted(found - {drawn})


def _outermost(address: Address, owner: Mapping[Address, Address]) -> Address:
    while owner[address] != address:
        address = owner[address]
    return address


def _providers(resources: Mapping[Address, Resource]) -> Iterator[tuple[Address, Address]]:
    """Yield what serves custom resources: a function, and all functions that it leads to."""
    for resource in resources.values():
        if not resource.type.startswith("Custom::"):
            continue
        for address in resource.needs:
            entry = resources[address]
            if entry.type == "AWS::Lambda::Function":
                yield address, address
                for part in _reached(entry, resources):
                    if part.type in ("AWS::Lambda::Function", "AWS::StepFunctions::StateMachine"):
                        yield part.address, address


def _reached(resource: Resource, resources: Mapping[Address, Resource]) -> Iterator[Resource]:
    """Yield what a resource needs in its own stack, nearest first."""
    pending, seen = [resource.address], {resource.address}
    while pending:
        for address in resources[pending.pop(0)].needs:
            if address not in seen and address.stack == resource.address.stack:
                seen.add(address)
                pending.append(address)
                yield resources[address]


def _run_under_or_logged_to(
    resource: Resource, resources: Mapping[Address, Resource]
) -> Iterator[Address]:
    for address in resource.needs:
        named = resources[address]
        if address.stack != resource.address.stack:
            continue
        is_custom = resource.type.startswith("Custom::")
        if named.type == "AWS::IAM::Role" and resource.type not in _GRANTS and not is_custom:
            yield address
        if named.type == resource.type == "AWS::S3::Bucket":
            yield address
