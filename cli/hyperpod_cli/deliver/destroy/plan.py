"""What the deletion of stacks deletes, and what it leaves."""

from __future__ import annotations

import textwrap
from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from hyperpod_cdk import Config
from hyperpod_cli.aws.assembly import CDK_METADATA
from hyperpod_cli.aws.stacks import DeployedResource

_CUSTOM = "Custom::"
# What holds what users have made, the hardest to replace first; the text follows the name.
_HOLDING = {
    "AWS::FSx::FileSystem": " with all its files",
    "AWS::S3::Bucket": " with all its objects",
    "AWS::EKS::Cluster": "",
}
_WIDTH = 76
# https://docs.aws.amazon.com/AWSCloudFormation/latest/TemplateReference/aws-attribute-deletionpolicy.html
_WHY = {
    "Retain": "retained by the template",
    "RetainExceptOnCreate": "retained by the template",
    "Snapshot": "as a snapshot",
}


@dataclass(frozen=True, kw_only=True, slots=True)
class Deletion:
    """What the deletion of a stack does; what is kept has its deletion policy."""

    stack: str
    deleted: Sequence[DeployedResource]
    kept: Sequence[tuple[DeployedResource, str]]


def deletion_of(
    stack: str, *, template: Mapping[str, Any], resources: Iterable[DeployedResource]
) -> Deletion:
    """Return what a deletion does, by the deletion policies that the stack was deployed with."""
    described = template.get("Resources", {})
    deleted, kept = [], []
    for resource in resources:
        if resource.type == CDK_METADATA:
            continue
        policy = described.get(resource.logical_id, {}).get("DeletionPolicy", "Delete")
        if policy in _WHY:
            kept.append((resource, policy))
        else:
            deleted.append(resource)
    return Deletion(stack=stack, deleted=deleted, kept=kept)


def announced(
    deletions: Sequence[Deletion], *, others: Sequence[str], everything: str
) -> Iterator[str]:
    """Yield what is said before a deletion; the command `everything` deletes the others too."""
    yield "This deletes for good these resources:"
    for deletion in deletions:
        yield f"  {deletion.stack} ({len(deletion.deleted)}):"
        yield from _wrapped(_named(deletion.deleted))
    kept = [each for deletion in deletions for each in deletion.kept]
    if kept or others:
        yield "This stays, and is billed as before:"
    for policy, why in _WHY.items():
        names = [f"{_kind(each)} {each.physical_id}" for each, own in kept if own == policy]
        if names:
            yield f"  {why} (DeletionPolicy {policy}):"
            yield from (f"    {name}" for name in names)
    if others:
        yield f"  {', '.join(others)}; to delete every stack: {everything}"


def ending(config: Config) -> Iterator[str]:
    """Yield what ends with the nodes, where no check of the stack's own looks for it."""
    if config.control_plane is None:
        yield "Jobs that run or wait on the cluster end, and what is on its nodes' volumes is lost;"
        yield "`squeue` on a node lists them: hyperpod-cdk connect controller."


def outcome(deleted: Sequence[str], *, deletions: Sequence[Deletion], others: Sequence[str]) -> str:
    """Return what is said after a deletion."""
    retained = [
        f"{_kind(each)} {each.physical_id}"
        for deletion in deletions
        for each, policy in deletion.kept
        if policy != "Snapshot"
    ]
    kept = ", ".join([*others, *retained])
    return f"Deleted: {', '.join(deleted)}." + (f" Kept: {kept}." if kept else "")


def _named(resources: Sequence[DeployedResource]) -> Iterator[str]:
    """Yield the names of what holds something and of custom resources; count the others."""
    for kind, contents in _HOLDING.items():
        for resource in resources:
            if resource.type == kind:
                yield f"{_kind(resource)} {resource.physical_id}{contents}"
    for resource in resources:
        if resource.type.startswith(_CUSTOM):
            yield f"{resource.type.removeprefix(_CUSTOM)} {resource.physical_id}"
    services = Counter(
        resource.type.split("::")[1]
        for resource in resources
        if resource.type not in _HOLDING and not resource.type.startswith(_CUSTOM)
    )
    for service, number in services.most_common():
        yield f"{number} of {service}"


def _kind(resource: DeployedResource) -> str:
    return " ".join(resource.type.split("::")[1:])


def _wrapped(items: Iterable[str]) -> Iterator[str]:
    """Yield a list in lines that no item is broken over."""
    indent, space = "    ", "\xa0"  # at which textwrap breaks no line
    lines = textwrap.wrap(
        ", ".join(item.replace(" ", space) for item in items),
        _WIDTH,
        initial_indent=indent,
        subsequent_indent=indent,
        break_long_words=False,
        break_on_hyphens=False,
    )
    return (line.replace(space, " ") for line in lines)
