"""A control plane in the place of the one in process."""

import secrets
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

import boto3

from emulator.kubernetes import Fault
from rehearsal.environment import EksDependencies


@dataclass(slots=True)
class RecordingControlPlane:
    """A control plane elsewhere: it keeps what it is told, and serves nothing."""

    url: str = "https://control-plane.invalid:6443"
    ca_pem: str = "-----BEGIN CERTIFICATE-----"
    admin_token: str = field(default_factory=secrets.token_urlsafe)
    addons_token: str = ""
    running: bool = False
    eks_clusters: list[tuple[str, str]] = field(default_factory=list)
    nodes: dict[str, dict[str, str]] = field(default_factory=dict)
    capacities: dict[str, dict[str, str]] = field(default_factory=dict)
    faults: list[Fault] = field(default_factory=list)

    def start(self) -> None:
        self.running = True

    def stop(self) -> None:
        self.running = False

    def accept_eks_tokens(
        self, *, eks_cluster_name: str, gateway_url: str, session: boto3.Session
    ) -> None:
        assert session.region_name == "us-west-2"
        self.eks_clusters.append((eks_cluster_name, gateway_url))

    def put_node(
        self,
        name: str,
        *,
        instance_type: str,
        labels: Mapping[str, str] | None = None,
        capacity: Mapping[str, str] | None = None,
        taints: Sequence[Mapping[str, str]] = (),
    ) -> None:
        assert taints == []
        self.nodes[name] = {"instance_type": instance_type, **(labels or {})}
        self.capacities[name] = dict(capacity or {})

    def silence_node(self, name: str) -> None:
        assert name in self.nodes

    def remove_node(self, name: str) -> None:
        self.nodes.pop(name, None)

    def objects(
        self, api_version: str, kind: str, namespace: str | None = None
    ) -> list[dict[str, Any]]:
        assert (api_version, namespace) == ("v1", None)
        names = {"Node": self.nodes, "Namespace": (EksDependencies.NAMESPACE,)}.get(kind, ())
        return [{"metadata": {"name": name}} for name in names]

    def inject(self, fault: Fault) -> None:
        self.faults.append(fault)

    def clear_faults(self) -> None:
        self.faults.clear()
