"""A cluster with the policies of editors' namespaces, installed by the real helm."""

import json
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

from hyperpod_emulator.testing.kubernetes_api import EDITOR, Cluster, Done, running_cluster
from tests.support.configs import REPOSITORY

CHART = REPOSITORY / "charts" / "namespace-isolation"
VALUES: dict[str, Any] = {
    "namespaces": ["team-*"],
    "made": [
        {"name": name, "storage": {"fsx-dynamic": "4800Gi"}}
        for name in ("team-a", "team-b", "team-public")
    ],
    "public": ["team-public"],
    "podCidrs": ["10.1.0.0/16"],
    "trusted": ["kube-system", "aws-hyperpod"],
    "queues": True,
}
_PEERS = {"team-e": ["team-f"], "team-f": ["team-e"]}
USERS = {"team-c": (20000, 20999), "team-d": (30000, 30999)}
"""Namespaces of teams, and the first and last of the users that pods with claims run as."""
VALUES |= {
    "made": [
        *VALUES["made"],
        *({"name": name} for name in USERS),
        *({"name": name, "peers": peers} for name, peers in _PEERS.items()),
    ],
    "users": [
        {"name": name, "namespaces": [name], "first": first, "last": last}
        for name, (first, last) in USERS.items()
    ],
}
QUEUED = {"kueue.x-k8s.io/queue-name": "team-a-localqueue"}


@contextmanager
def isolated_cluster(home: Path) -> Iterator[Cluster]:
    """Run a cluster whose namespaces `team-*` are held to the policies."""
    file = home / "values.json"
    file.write_text(json.dumps(VALUES))
    with running_cluster(home) as cluster:
        cluster.helm(
            "install", "isolation", str(CHART), "--namespace", "kube-system", "--values", str(file)
        )
        yield cluster


def create(cluster: Cluster, item: dict[str, Any], *, token: str = EDITOR) -> Done:
    """Try to create an object, as an editor of `team-*` unless another token is given."""
    return cluster.try_kubectl("create", "-f", "-", stdin=item, token=token)


def team_object(
    kind: str,
    *,
    api: str = "v1",
    namespace: str = "team-a",
    name: str = "one",
    labels: dict[str, str] | None = None,
    annotations: dict[str, str] | None = None,
    **members: Any,
) -> dict[str, Any]:
    """Return an object of a team's namespace."""
    metadata: dict[str, Any] = {"name": name, "namespace": namespace}
    metadata |= {"labels": labels} if labels else {}
    metadata |= {"annotations": annotations} if annotations else {}
    return {"apiVersion": api, "kind": kind, "metadata": metadata, **members}


def team_pod(
    *,
    name: str = "one",
    namespace: str = "team-a",
    labels: dict[str, str] | None = None,
    gpus: int = 0,
    **spec: Any,
) -> dict[str, Any]:
    """Return a pod of a team, maybe with GPUs; further arguments are fields of its spec."""
    container: dict[str, Any] = {"name": "main", "image": "registry.invalid/main:1"}
    if gpus:
        container["resources"] = {"limits": {"nvidia.com/gpu": str(gpus)}}
    return team_object(
        "Pod",
        namespace=namespace,
        name=name,
        labels=labels,
        spec={"containers": [container], **spec},
    )
