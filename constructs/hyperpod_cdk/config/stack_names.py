"""The stacks of a deployment by kind, and what they are called."""

from typing import Literal

from hyperpod_cdk.config.config import Config

StackKind = Literal["platform", "addons", "storage", "hyperpod"]


def stack_name(config: Config, kind: StackKind) -> str:
    """Return the name of a stack."""
    return f"{config.name}-{kind}"


def stack_names(config: Config) -> dict[StackKind, str]:
    """Return the names of a deployment's stacks by kind, in the order in which they are shown."""
    kinds: list[StackKind] = ["platform", "addons", "storage", "hyperpod"]
    return {
        kind: stack_name(config, kind)
        for kind in kinds
        if kind != "storage" or config.storage is not None
    }
