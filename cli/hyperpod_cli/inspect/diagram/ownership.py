"""Which resources a person thinks of, and which are parts of them."""

from collections.abc import Iterable, Iterator, Mapping, Sequence

from hyperpod_cli.aws.assembly import CDK_METADATA, Address, Stack, TemplateResource, reached
from hyperpod_cli.inspect.resource_types import resource_type

# These name a role to give it permissions; they do not run as it.
_GRANTS = {
    "AWS::EKS::AccessEntry",
    "AWS::EKS::PodIdentityAssociation",
    "AWS::IAM::ManagedPolicy",
    "AWS::IAM::Policy",
}


def owners(stacks: Sequence[Stack]) -> Mapping[Address, Address]:
    """Return for each resource the one that the picture shows it in; a drawn one shows itself.

    Policies, log groups and the like are missing: they are drawn nowhere.
    """
    resources = {address: item for stack in stacks for address, item in stack.resources.items()}
    owner = dict(_providers(resources))
    for resource in resources.values():
        whole = resource_type(resource.type).part_of
        if resource.address not in owner and whole is not None:
            for found in _reached(resource, resources):
                if found.type == whole:
                    owner[resource.address] = found.address
                    break
    for resource in resources.values():
        for named in _run_under_or_logged_to(resource, resources):
            owner.setdefault(named, owner.get(resource.address, resource.address))
    for resource in resources.values():
        if resource.type != CDK_METADATA and resource_type(resource.type).is_drawn:
            owner.setdefault(resource.address, resource.address)
    return {address: _outermost(address, owner) for address in owner}


def needs(
    drawn: Address,
    *,
    owner: Mapping[Address, Address],
    resources: Mapping[Address, TemplateResource],
) -> list[Address]:
    """List the drawn resources that one needs, directly or through what is drawn nowhere.

    What needs it itself is left out: a part may be about that, as the alarm of a topic is about a
    function that tells the topic.
    """
    own = [address for address, whole in owner.items() if whole == drawn]

    def through(address: Address) -> Iterable[Address]:
        is_drawn = address in owner and owner[address] != drawn
        return () if is_drawn else resources[address].needs

    found = {owner[each] for each in reached(own, through) if each in owner}
    return sorted(each for each in found - {drawn} if drawn not in resources[each].needs)


def _outermost(address: Address, owner: Mapping[Address, Address]) -> Address:
    while owner[address] != address:
        address = owner[address]
    return address


def _providers(resources: Mapping[Address, TemplateResource]) -> Iterator[tuple[Address, Address]]:
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


def _reached(
    resource: TemplateResource, resources: Mapping[Address, TemplateResource]
) -> Iterator[TemplateResource]:
    """Yield what a resource needs in its own stack, nearest first."""
    stack = resource.address.stack

    def own(address: Address) -> Iterator[Address]:
        return (each for each in resources[address].needs if each.stack == stack)

    return (resources[each] for each in reached([resource.address], own))


def _run_under_or_logged_to(
    resource: TemplateResource, resources: Mapping[Address, TemplateResource]
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
