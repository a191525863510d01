"""The stacks of a deployment by kind, and what they are called."""

from typing import Literal

from hyperpod_cdk.config.config import Config

StackKind = Literal["platform", "addons", "storage", "hyperpod"]


def stack_name(config: Config, kind: StackKind) -> str:
    """Return the name of a stack."""
    return f"{config.name}-{kind}"


def stack_names(config: Config) -> dict[StackKind, str]:
    """Return the names of a deployment's stacks by kind, in the order in which they are shown."""
    kinds: dict[StackKind, bool] = {
        "platform": True,
        "addons": bool(config.addons_that_need_nodes),
        "storage": config.storage is not None,
        "hyperpod": True,
    }
    return {kind: stack_name(config, kind) for kind, exists in kinds.items() if exists}
