"""Connects helm and kubectl to one EKS cluster: a fresh folder that is removed afterwards."""

import os
import tempfile
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from functools import partial
from pathlib import Path

from hyperpod_shared.eks_token import TokenSigner
from provisioner.aws.api import Answer, EksApi
from provisioner.framework.retry import Clock
from provisioner.kubernetes.cluster import Cluster
from provisioner.kubernetes.eks_cluster import describe
from provisioner.kubernetes.process import ClusterProcess, Run, layer_binary

# The binaries live for a second or so: to collect no garbage up to half of the function's memory
# saves a quarter of their processor time. https://go.dev/doc/gc-guide#Memory_limit
_COLLECTING_NO_GARBAGE = {"GOGC": "off", "GOMEMLIMIT": "512MiB"}


def _from_layer(name: str) -> Path:
    return layer_binary(name, os.environ)


@dataclass(frozen=True, slots=True, kw_only=True)
class ClusterCommands:
    """helm and kubectl, connected to one cluster.

    Attributes:
        cluster: The Kubernetes API.
        helm: Runs helm.
        kubectl: Runs kubectl.
        home: A folder for the files that they read.
    """

    cluster: Cluster
    helm: Run
    kubectl: Run
    home: Path


@dataclass(frozen=True, slots=True, kw_only=True)
class EksConnection:
    """Connects to EKS.

    Attributes:
        eks: Knows where the Kubernetes API is.
        token_signer: Makes the tokens for it.
        binary: Returns the path of `helm` or `kubectl`. Default: the one of the kubectl layer.
    """

    eks: EksApi
    token_signer: TokenSigner
    binary: Callable[[str], Path] = _from_layer

    def describe(self, name: str, clock: Clock) -> Answer:
        """Return what EKS says of a cluster, whatever its state.

        Raises:
            ClusterNotFoundError: There is no such EKS cluster.
            ClientError: EKS refused.
        """
        return describe(name, eks=self.eks, clock=clock)

    @contextmanager
    def connect(self, described: Answer, *, namespace: str) -> Iterator[ClusterCommands]:
        """Yield the commands; everything they write is removed with the context.

        Args:
            described: The cluster, as `describe` returned it.
            namespace: The namespace of objects that name none.

        Raises:
            ProvisioningError: The cluster cannot be reached, or a binary is missing.
        """
        binaries = {name: self.binary(name) for name in ("helm", "kubectl")}
        cluster = Cluster.of(described, token_signer=self.token_signer)
        with tempfile.TemporaryDirectory(prefix="helm-") as folder:
            home = Path(folder)
            kubeconfig = partial(cluster.write_kubeconfig, home / "kubeconfig", namespace=namespace)
            environment = {"PATH": os.environ.get("PATH", os.defpath), **_COLLECTING_NO_GARBAGE}
            helm, kubectl = (
                ClusterProcess(
                    binary=binaries[name], home=home, kubeconfig=kubeconfig, environment=environment
                )
                for name in ("helm", "kubectl")
            )
            yield ClusterCommands(cluster=cluster, helm=helm.run, kubectl=kubectl.run, home=home)
