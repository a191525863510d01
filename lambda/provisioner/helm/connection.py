"""Connects helm and kubectl to one EKS cluster: a fresh folder that is removed afterwards."""

import os
import tempfile
from collections.abc import Callable, Iterator
from contextlib import AbstractContextManager, contextmanager
from dataclasses import dataclass
from functools import partial
from pathlib import Path

from provisioner.aws.api import EksApi, S3Api
from provisioner.aws.eks_token import TokenSigner
from provisioner.framework.retry import Clock
from provisioner.helm.chart import fetch_chart
from provisioner.helm.client import ReleaseClient
from provisioner.helm.properties import HelmReleaseProperties
from provisioner.helm.state import Wanted
from provisioner.kubernetes.cluster import Cluster
from provisioner.kubernetes.process import ClusterProcess, layer_binary

Connect = Callable[[HelmReleaseProperties, Wanted, Clock], AbstractContextManager[ReleaseClient]]


@dataclass(frozen=True, slots=True, kw_only=True)
class EksConnection:
    """Connects to EKS; charts come from S3.

    Attributes:
        eks: Knows where the Kubernetes API is.
        token_signer: Makes the tokens for it.
        s3: Holds the charts.
    """

    eks: EksApi
    token_signer: TokenSigner
    s3: S3Api

    @contextmanager
    def connect(
        self, properties: HelmReleaseProperties, wanted: Wanted, clock: Clock
    ) -> Iterator[ReleaseClient]:
        """Yield the commands for one release; everything they write is removed with the context.

        Raises:
            ClusterNotFoundError: There is no such EKS cluster.
            ProvisioningError: The cluster cannot be reached, or a binary is missing.
        """
        binaries = {name: layer_binary(name, os.environ) for name in ("helm", "kubectl")}
        cluster = Cluster.find(
            properties.cluster_name, eks=self.eks, token_signer=self.token_signer, clock=clock
        )
        with tempfile.TemporaryDirectory(prefix="helm-") as folder:
            home = Path(folder)
            kubeconfig = partial(
                cluster.write_kubeconfig, home / "kubeconfig", namespace=properties.namespace
            )
            environment = {"PATH": os.environ.get("PATH", os.defpath)}
            helm, kubectl = (
                ClusterProcess(
                    binary=binaries[name], home=home, kubeconfig=kubeconfig, environment=environment
                )
                for name in ("helm", "kubectl")
            )
            yield ReleaseClient(
                properties=properties,
                wanted=wanted,
                clock=clock,
                cluster=cluster,
                run_helm=helm.run,
                run_kubectl=kubectl.run,
                home=home,
                fetch_chart=lambda: fetch_chart(
                    self.s3,
                    bucket=properties.chart_bucket,
                    key=properties.chart_key,
                    folder=home,
                    clock=clock,
                ),
            )
