"""Configurations that differ from another one in a value, for all that its template can hold."""

from collections.abc import Iterable, Sequence
from typing import Any

from pydantic import ValidationError

from hyperpod_cdk import Config
from hyperpod_cdk.checks import findings
from hyperpod_cdk.facts.instance_types import default_threads_per_core
from hyperpod_cdk.schema.errors import KeyPath, Severity


class Variants:
    """What a value of a configuration may become without another template.

    The configuration's own rules decide. A template also holds what was derived from the value:
    which components are installed, and the threads per core of a group.

    Args:
        config: The configuration.
    """

    def __init__(self, config: Config) -> None:
        self._document = config.model_dump(exclude_unset=True)
        self._components = _installed(config)
        self._threads = _default_threads(config)

    def accepted(self, path: KeyPath, values: Iterable[str | int]) -> list[str | int]:
        """Return those of some values that may be at a path."""
        return [value for value in values if self._accepts(path, value)]

    def most(self, path: KeyPath, *, least: int, most: int) -> int:
        """Return the greatest number that may be at a path, at least `least`."""
        while least < most:
            middle = (least + most + 1) // 2
            if self._accepts(path, middle):
                least = middle
            else:
                most = middle - 1
        return least

    def _accepts(self, path: KeyPath, value: str | int) -> bool:
        try:
            config = Config.model_validate(_replaced(self._document, path, value))
        except ValidationError:
            return False
        return (
            _installed(config) <= self._components
            and _default_threads(config) == self._threads
            and all(finding.severity is not Severity.ERROR for finding in findings(config))
        )


def _installed(config: Config) -> set[str]:
    return {name for name, is_on in config.components.switches().items() if is_on}


def _default_threads(config: Config) -> list[int | None]:
    return [
        default_threads_per_core(group.possible_instance_types)
        for group in config.cluster.all_groups
        if group.threads_per_core is None
    ]


def _replaced(node: Any, path: Sequence[str | int], value: str | int) -> Any:  # noqa: ANN401 - any JSON
    if not path:
        return value
    step, *rest = path
    if isinstance(step, int):
        return [_replaced(v, rest, value) if i == step else v for i, v in enumerate(node)]
    return {**node, step: _replaced(node.get(step) or {}, rest, value)}
