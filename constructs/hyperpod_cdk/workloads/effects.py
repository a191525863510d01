"""What a change does to training images."""

import re
from collections.abc import Iterator

from hyperpod_cdk.effects.effect import Effect, Properties, StackState, changes

_PROJECT, _REPOSITORY = "AWS::CodeBuild::Project", "AWS::ECR::Repository"
_TAG = re.compile(r"imageTag=([\w-]+)")
_KEPT = re.compile(r'"countNumber":(\d+)')


def effects(former: StackState, wanted: StackState) -> Iterator[Effect]:
    """Yield the images that another build makes, and how many are kept."""
    for logical_id, had, has in changes(former, wanted, _PROJECT):
        for tag in sorted(_tags(has) - _tags(had)) if had else ():
            yield Effect(
                rule="workloads.image",
                text=f"training image {tag}: to build with `hyperpod-cdk image build`",
                place=("workloads",),
                resources=frozenset([logical_id]),
            )
    for logical_id, had, has in changes(former, wanted, _REPOSITORY):
        before, after = (_kept(each) for each in (had, has))
        if before and after and before != after:
            yield Effect(
                rule="workloads.images-kept",
                text=f"training images of each kind: the newest {before} -> {after} are kept",
                place=("workloads", "images_kept"),
                resources=frozenset([logical_id]),
            )


def _tags(project: Properties | None) -> set[str]:
    return {*_TAG.findall(str(((project or {}).get("Source") or {}).get("BuildSpec")))}


def _kept(repository: Properties | None) -> str:
    """Return how many images of a kind ECR keeps: its first rule says so."""
    policy = (repository or {}).get("LifecyclePolicy") or {}
    number = _KEPT.search(str(policy.get("LifecyclePolicyText")))
    return number[1] if number else ""
