"""What a rehearsal needs of the Kubernetes control plane of its EKS cluster.

The rehearsal uses this interface alone, so that another control plane (a container, a virtual
machine) can stand in the place of the one in process.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Protocol

import boto3

from emulator.kubernetes.objects.errors import Object

WRITES = frozenset({"create", "update", "patch", "delete"})
EVERYTHING: frozenset[str] = frozenset()


@dataclass(slots=True)
class Fault:
    """What goes wrong, and for whom.

    Attributes:
        code: HTTP status of the answer; ignored when the connection is dropped.
        verbs: Verbs it hits, such as `patch`; empty means every request, discovery included.
        kind: Kind it hits; empty means all.
        times: How many requests it hits before it is over; None means until cleared.
        delay_seconds: How long the request waits first, unless the faults are cleared.
        drop: Whether the connection is closed without an answer, as if nothing listened.
        passes: Whether the request is served after the delay, so that only time is lost.
    """

    code: int = 500
    reason: str = "InternalError"
    message: str = "Internal error occurred: injected fault"
    verbs: frozenset[str] = WRITES
    kind: str = ""
    times: int | None = 1
    delay_seconds: float = 0.0
    drop: bool = False
    passes: bool = False


def unreachable() -> Fault:
    """Return the fault of an API that does not answer at all."""
    return Fault(verbs=EVERYTHING, drop=True, times=None)


class ControlPlane(Protocol):
    """The control plane of one EKS cluster."""

    @property
    def url(self) -> str:
        """Endpoint of its API, over TLS; EKS reports it for the cluster."""

    @property
    def ca_pem(self) -> str:
        """Certificate authority of the endpoint; EKS reports it for the cluster."""

    @property
    def admin_token(self) -> str:
        """Bearer token of a cluster admin, for the rehearsal's kubectl and helm."""

    @property
    def addons_token(self) -> str:
        """Bearer token with which EKS installs add-ons; no injected fault hits it.

        Empty if add-ons have no objects in it.
        """

    def start(self) -> None:
        """Start to listen; `url` is known afterwards."""

    def stop(self) -> None:
        """Stop to listen."""

    def accept_eks_tokens(
        self, *, eks_cluster_name: str, gateway_url: str, session: boto3.Session
    ) -> None:
        """Authenticate the tokens of an EKS cluster from now on, and of no other.

        The STS of the local AWS says who signed a token; the session reads the access entries.
        """

    def put_node(
        self,
        name: str,
        *,
        instance_type: str,
        labels: Mapping[str, str] | None = None,
        capacity: Mapping[str, str] | None = None,
        taints: Sequence[Mapping[str, str]] = (),
    ) -> None:
        """Let a node join, or change the one of that name.

        It offers a capacity such as `{"cpu": "48", "nvidia.com/gpu": "4"}`, and has taints such as
        `{"key": "gpu", "effect": "NoSchedule"}`.
        """

    def put_definition(self, definition: Object) -> None:
        """Bring a CustomResourceDefinition, or change the one of that name."""

    def silence_node(self, name: str) -> None:
        """Let the kubelet of a node stop, until `put_node`; harmless when the node is gone."""

    def remove_node(self, name: str) -> None:
        """Let a node leave; harmless when it is gone."""

    def objects(self, api_version: str, kind: str, namespace: str | None = None) -> list[Object]:
        """Return the objects of a kind, in one namespace or in all."""

    def inject(self, fault: Fault) -> None:
        """Let requests go wrong; several faults may be in force, the oldest hits first."""

    def clear_faults(self) -> None:
        """End every injected fault."""
