"""The way to a simulated Kubernetes API, for what runs kubectl and helm."""

from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any, cast
from unittest.mock import patch

from botocore.exceptions import ClientError, HTTPClientError

from provisioner import handler
from provisioner.kubernetes.cluster import ClusterCommands, EksConnection
from provisioner.kubernetes.failures import CommandFailedError, UnreadableAnswerError
from tests.provisioner.histories.world import World

UNREACHABLE = "Error: Kubernetes cluster unreachable: Get https://x/version: dial tcp: i/o timeout"


def reach(world: World, what: str, *, lists: bool = False) -> None:
    """Let a command that only reads reach the API, or not; a list of the API may be garbage."""

    def garbage(_answer: None) -> None:
        raise UnreadableAnswerError(f"{what}: the answer is no list: <html>")

    try:
        world.call("kubernetes", what, lambda: None, garble=garbage if lists else None)
    except (ClientError, HTTPClientError) as error:
        raise CommandFailedError(UNREACHABLE) from error


@dataclass(frozen=True, slots=True, kw_only=True)
class _Connection(EksConnection):
    service: Any
    place: tuple[str, str]

    @contextmanager
    def connect(self, described: Any, *, namespace: str) -> Iterator[ClusterCommands]:  # noqa: ANN401
        assert (described["name"], namespace) == self.place
        yield ClusterCommands(
            cluster=cast("Any", None),
            helm=self.service.helm,
            run_kubectl=self.service.kubectl,
            home=Path("/nowhere"),
        )


@contextmanager
def connected(service: Any, *, cluster: str, namespace: str) -> Iterator[None]:  # noqa: ANN401
    """Let kubectl and helm be a service's methods, and the cluster and namespace be these."""

    def connection(clients: Any) -> _Connection:  # noqa: ANN401 - whatever clients there are
        return _Connection(
            eks=clients.eks,
            token_signer=clients.token_signer,
            service=service,
            place=(cluster, namespace),
        )

    with patch.object(handler, "_connection", connection):
        yield
