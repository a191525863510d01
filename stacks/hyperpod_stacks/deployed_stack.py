"""What the stacks of a deployment have in common, and what each is made from."""

from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import TypeVar

import aws_cdk as cdk
from constructs import Construct

from hyperpod_cdk.config.config import Config
from hyperpod_cdk.helm.chart import HyperPodChart
from hyperpod_stacks.table import STACKS, StackKind, stack_name

Made = TypeVar("Made", bound="DeployedStack")


@dataclass(frozen=True, kw_only=True, slots=True)
class Stacks:
    """What the stacks of a deployment are made from, and those that are made.

    The chart and the folder of lifecycle scripts are None where they are not given.
    """

    config: Config
    chart: HyperPodChart | None
    scripts: Path | None
    made: dict[StackKind, "DeployedStack"] = field(default_factory=dict)

    def of(self, kind: type[Made]) -> Made:
        """Return the stack of a class, which is made already."""
        return next(stack for stack in self.made.values() if isinstance(stack, kind))

    @property
    def stored(self) -> Mapping[str, str]:
        """Outputs of the storage stack by name; empty without one."""
        return self.made["storage"].outputs if "storage" in self.made else {}


class DeployedStack(cdk.Stack):
    """A stack as its row describes it.

    Attributes:
        outputs: Its outputs by name.
    """

    def __init__(self, scope: Construct, kind: StackKind, stacks: Stacks) -> None:
        config, row, name = stacks.config, STACKS[kind], stack_name(stacks.config, kind)
        super().__init__(
            scope,
            name,
            stack_name=name,
            env=cdk.Environment(region=config.region),
            description=row.about(config),
            termination_protection=row.protection is not None and row.protection.given_by(config),
        )
        self.outputs: dict[str, str] = {}
        for other in ("platform", *row.follows):
            if other in stacks.made:
                self.add_stack_dependency(stacks.made[other])

    def add_outputs(self, values: Mapping[str, str | None]) -> None:
        """Add one output for each name that has a value.

        No export, so no other stack is held back by it.
        """
        for name, value in values.items():
            if value is not None:
                cdk.CfnOutput(self, name, value=value).override_logical_id(name)
                self.outputs[name] = value

    def keep_exported(self, *values: str | None) -> None:
        """Export what other stacks may begin and cease to use.

        CDK exports what is used in this synthesis alone. CloudFormation removes no export that is
        used, and the stack that has ceased to use it is updated later.

        Args:
            values: Attributes of resources of this stack; what is not of this stack is passed over.
        """
        for value in filter(None, values):
            for token in cdk.Tokenization.reverse_string(value).tokens:
                target = token.target if isinstance(token, cdk.Reference) else None
                if target is not None and cdk.Stack.of(target).node.path == self.node.path:
                    self.export_value(token)
