"""Writes the kubeconfig with which helm reaches an EKS cluster."""

import json
import os
from pathlib import Path

from provisioner.aws_api import EksApi
from provisioner.aws_errors import AWS_ERRORS, aws_retried, is_not_found
from provisioner.eks_token import TokenSigner
from provisioner.errors import ProvisioningError
from provisioner.retry import Clock

_NAME = "cluster"
_READY = frozenset({"ACTIVE", "UPDATING", "PENDING"})


class ClusterNotFoundError(ProvisioningError):
    """The EKS cluster does not exist (any more)."""


def write_kubeconfig(
    path: Path, *, cluster_name: str, eks: EksApi, token_signer: TokenSigner, clock: Clock
) -> None:
    """Write a kubeconfig that only this process's user can read.

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
    server = {"server": endpoint}
    authority = (cluster.get("certificateAuthority") or {}).get("data")
    if authority:
        server["certificate-authority-data"] = authority
    content = json.dumps(
        {
            "apiVersion": "v1",
            "kind": "Config",
            "clusters": [{"name": _NAME, "cluster": server}],
            "users": [{"name": _NAME, "user": {"token": token_signer.token(cluster_name)}}],
            "contexts": [{"name": _NAME, "context": {"cluster": _NAME, "user": _NAME}}],
            "current-context": _NAME,
        }
    )
    descriptor = os.open(path, os.O_WRONLY | os.O_CREAT | os.O_EXCL, 0o600)
    with os.fdopen(descriptor, "w") as file:
        file.write(content)
