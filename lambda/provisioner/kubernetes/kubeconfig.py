"""Writes the kubeconfig with which helm and kubectl reach an EKS cluster."""

import json
import os
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path

from provisioner.aws.api import EksApi
from provisioner.aws.errors import AWS_ERRORS, aws_retried, is_not_found
from provisioner.framework.errors import ProvisioningError
from provisioner.framework.retry import Clock
from provisioner.kubernetes.token import TokenSigner

_NAME = "cluster"
_READY = frozenset({"ACTIVE", "UPDATING", "PENDING"})


class ClusterNotFoundError(ProvisioningError):
    """The EKS cluster does not exist (any more)."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Kubeconfig:
    """A kubeconfig of one cluster.

    Args:
        path: Where it is written; only this process's user can read it.
        cluster_name: The EKS cluster.
        server: The endpoint and the certificate authority, as a kubeconfig has them.
        namespace: Where objects go that name no namespace.
        token_signer: Makes the token.
    """

    path: Path
    cluster_name: str
    server: Mapping[str, str]
    namespace: str
    token_signer: TokenSigner

    def fresh(self) -> Path:
        """Write it with a new token and return its path.

        EKS takes a token for 15 minutes, a request may last longer; making one is no call.
        """
        user = {"token": self.token_signer.token(self.cluster_name)}
        context = {"cluster": _NAME, "user": _NAME, "namespace": self.namespace}
        content = json.dumps(
            {
                "apiVersion": "v1",
                "kind": "Config",
                "clusters": [{"name": _NAME, "cluster": self.server}],
                "users": [{"name": _NAME, "user": user}],
                "contexts": [{"name": _NAME, "context": context}],
                "current-context": _NAME,
            }
        )
        descriptor = os.open(self.path, os.O_WRONLY | os.O_CREAT | os.O_TRUNC, 0o600)
        with os.fdopen(descriptor, "w") as file:
            file.write(content)
        return self.path


def server_of(cluster_name: str, *, eks: EksApi, clock: Clock) -> dict[str, str]:
    """Return a cluster's endpoint and certificate authority, as a kubeconfig has them.

    Raises:
        ClusterNotFoundError: There is no such EKS cluster.
        ProvisioningError: The cluster has no endpoint yet or is not in a usable state.
    """
    try:
        cluster = aws_retried(
            lambda: eks.describe_cluster(name=cluster_name)["cluster"], clock=clock
        )
    except AWS_ERRORS as error:
        if not is_not_found(error):
            raise
        raise ClusterNotFoundError(
            f"There is no EKS cluster {cluster_name}",
            next_step="Deploy the platform stack first.",
        ) from error
    endpoint = cluster.get("endpoint")
    if not endpoint or cluster.get("status", "ACTIVE") not in _READY:
        raise ProvisioningError(
            f"The EKS cluster {cluster_name} is {cluster.get('status')} and cannot be reached",
            next_step="Deploy again when it is ACTIVE.",
        )
    authority = (cluster.get("certificateAuthority") or {}).get("data")
    trust = {"certificate-authority-data": authority} if authority else {}
    return {"server": endpoint, **trust}
