"""Values that stay what they were when their stack was created, compared before a deployment."""

from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from hyperpod_cdk.schema.errors import NONE, error, kept_in, path_of, shown
from hyperpod_cdk.schema.yaml_file import read_yaml


@dataclass(frozen=True, kw_only=True, slots=True)
class FixedValueChange:
    """A value that would change and cannot.

    The text is what the template's rule says: key, value, why, what to do. The parameter has the
    former value.
    """

    text: str
    value: str
    parameter: str
    former: str

    @property
    def key(self) -> str:
        """The key of the configuration."""
        return self.text.partition(": ")[0]

    def __str__(self) -> str:
        """Return what the rule says, with the former value in it."""
        former = "none: leave the key out" if self.former == NONE else shown(self.former)
        return self.text.replace(kept_in(self.parameter), f" ({former}),")


def changes(
    template: Mapping[str, Any], *, parameters: Mapping[str, str]
) -> Iterator[FixedValueChange]:
    """Yield the rules of a template that the parameters of its stack do not meet.

    CloudFormation asserts them with these values for `cdk deploy`, which keeps them. The action of
    CodePipeline gives parameters their defaults instead, and no rule would fail (ADR 43).
    """
    for rule in template.get("Rules", {}).values():
        for assertion in rule["Assertions"]:
            match assertion["Assert"]:
                case {"Fn::Equals": [{"Ref": str(name)}, str(value)]}:
                    if parameters.get(name, value) != value:
                        yield FixedValueChange(
                            text=assertion["AssertDescription"],
                            value=value,
                            parameter=name,
                            former=parameters[name],
                        )


def refuse_changes(changed: Iterable[FixedValueChange], *, config: Path) -> None:
    """Raise the values that would change, each with its line of the configuration."""
    read_yaml(config).refuse(
        error(
            path_of(change.key), value, str(change).removeprefix(f"{change.key}: {shown(value)} ")
        )
        for change in changed
        for value in [None if change.value == NONE else change.value]
    )
