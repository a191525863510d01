"""The architecture that templates describe: stacks, what they hold, and what needs what."""

from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace

from hyperpod_cli.aws.assembly import CDK_METADATA, Address, Stack, TemplateResource, reached
from hyperpod_cli.inspect.diagram.card import Card, Surroundings
from hyperpod_cli.inspect.diagram.cards import card, subnets_of_clusters
from hyperpod_cli.inspect.resource_types import resource_type

# These name a role to give it permissions; they do not run as it.
_GRANTS = {
    "AWS::EKS::AccessEntry",
    "AWS::EKS::PodIdentityAssociation",
    "AWS::IAM::ManagedPolicy",
    "AWS::IAM::Policy",
}

Needs = Mapping[str, tuple[str, ...]]
"""By name, the names of what must be there first."""


@dataclass(frozen=True, kw_only=True, slots=True)
class StackPicture:
    """One stack: its cards by logical ID, their needs, and the kinds it takes from other stacks."""

    name: str
    description: str
    cards: Mapping[str, Card]
    needs: Needs
    takes: Mapping[str, tuple[str, ...]]


def architecture(stacks: Sequence[Stack]) -> list[StackPicture]:
    """Return the stacks as the picture shows them."""
    owner = owners(stacks)
    resources = {address: item for stack in stacks for address, item in stack.resources.items()}
    subnets = subnets_of_clusters(stacks)
    cards = {
        drawn: card(
            resources[drawn],
            Surroundings(
                stack=stack,
                parts=[resources[part] for part, whole in owner.items() if whole == drawn],
                hyperpod_subnets=subnets,
            ),
        )
        for stack in stacks
        for drawn in sorted(set(owner.values()))
        if drawn.stack == stack.name
    }
    needed = {drawn: needs(drawn, owner=owner, resources=resources) for drawn in cards}
    return [_stack_picture(stack, cards=cards, needed=needed) for stack in stacks]


def overview(stacks: Sequence[StackPicture]) -> list[StackPicture]:
    """Return the stacks as a newcomer reads them: one card each, with what it holds."""
    return [
        replace(
            stack,
            cards={stack.name: Card(kind="", lines=(" · ".join(_counted(stack)),))},
            needs={stack.name: ()},
            takes=dict.fromkeys(stack.takes, ()),
        )
        for stack in stacks
    ]


def rows(needs_of: Needs) -> list[list[str]]:
    """Sort names so that what is needed is in a row above what needs it.

    A card stands for several resources, so that cards may need each other where resources do not:
    of those, the one that needs the fewest comes first.
    """
    waiting, result = dict(needs_of), list[list[str]]()
    while waiting:
        lacking = {
            name: sum(other in waiting for other in needed) for name, needed in waiting.items()
        }
        row = [name for name, count in lacking.items() if not count]
        row = row or [min(lacking, key=lambda name: lacking[name])]
        result.append(row)
        for name in row:
            del waiting[name]
    return result


def direct(needs_of: Needs) -> dict[str, tuple[str, ...]]:
    """Leave out what is needed by something else that is needed."""
    return {
        name: tuple(
            one
            for one in needed
            if not any(
                one in reached([other], needs_of.__getitem__) for other in needed if other != one
            )
        )
        for name, needed in needs_of.items()
    }


def groups(needs_of: Needs) -> list[list[str]]:
    """Divide names into those that are connected with each other."""
    result: list[list[str]] = []
    for name, needed in needs_of.items():
        linked = [group for group in result if not set(group).isdisjoint([name, *needed])]
        joined = [*(member for group in linked for member in group), name]
        joined += [one for one in needed if one not in joined]
        result = [group for group in result if group not in linked]
        result.append(list(dict.fromkeys(joined)))
    order = list(needs_of)
    return [sorted(group, key=order.index) for group in result]


def _counted(stack: StackPicture) -> Iterator[str]:
    """Yield the kinds of a stack's cards, what is created first at the beginning."""
    order = [name for row in rows(stack.needs) for name in row]
    for kind, number in Counter(stack.cards[name].kind for name in order).items():
        yield kind if number == 1 else f"{number} {kind}s"


def _stack_picture(
    stack: Stack, *, cards: Mapping[Address, Card], needed: Mapping[Address, Iterable[Address]]
) -> StackPicture:
    own = {drawn: item for drawn, item in cards.items() if drawn.stack == stack.name}
    takes: dict[str, set[str]] = {}
    for drawn in own:
        for address in needed[drawn]:
            if address.stack != stack.name:
                takes.setdefault(address.stack, set()).add(cards[address].kind)
    return StackPicture(
        name=stack.name,
        description=stack.description,
        cards={drawn.logical_id: item for drawn, item in own.items()},
        needs=direct(
            {
                drawn.logical_id: tuple(
                    address.logical_id for address in needed[drawn] if address.stack == stack.name
                )
                for drawn in own
            }
        ),
        takes={name: tuple(sorted(kinds)) for name, kinds in sorted(takes.items())},
    )


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
