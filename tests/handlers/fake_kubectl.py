"""kubectl, in memory: a cluster with what a test puts in it."""

# Signatures are those of the protocol.
# ruff: noqa: ARG002

from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import Any

from provisioner.helm.session import Object, Row
from provisioner.kubernetes.listing import Containers


@dataclass
class FakeListing:
    """A cluster without namespaces and definitions to speak of."""

    def containers(self, *, timeout_seconds: float) -> Containers:
        return Containers(
            names={"Namespace": frozenset(), "CustomResourceDefinition": frozenset()},
            going=frozenset(),
        )


@dataclass
class FakeKubectl:
    """Answers with nothing but the rows and objects it was given."""

    found: dict[str, list[dict[str, Any]]] = field(default_factory=dict)

    def parse(self, manifest: str, *, timeout_seconds: float) -> list[Object]:
        return []

    def live(self, objects: Sequence[Object], *, timeout_seconds: float) -> list[Object]:
        return []

    def table(
        self,
        kinds: Sequence[str],
        columns: Sequence[str],
        *,
        namespace: str | None = None,
        timeout_seconds: float,
    ) -> list[Row]:
        return []

    def apply(self, objects: Sequence[Object], *, timeout_seconds: float) -> None:
        raise AssertionError("nothing to apply")

    def annotate(
        self, objects: Sequence[Object], *, key: str, value: str, timeout_seconds: float
    ) -> None:
        raise AssertionError("nothing to annotate")

    def await_established(self, names: Sequence[str], *, timeout_seconds: float) -> None:
        raise AssertionError("nothing to wait for")

    def objects(self, kind: str, *, namespace: str, timeout_seconds: float) -> list[Object]:
        return self.found.get(kind, [])
