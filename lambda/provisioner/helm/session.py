"""Opens helm and kubectl for one EKS cluster: a fresh folder and nothing left behind."""

# The methods of the protocols are those of the classes they stand for, documented there.
# ruff: noqa: D102

import os
import tempfile
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import AbstractContextManager, contextmanager
from dataclasses import dataclass
from functools import partial
from pathlib import Path
from typing import Any, Protocol

from provisioner.aws.api import EksApi, S3Api
from provisioner.aws.archive import unpack_chart
from provisioner.aws.s3 import read_object
from provisioner.framework.retry import Clock
from provisioner.helm.commands import Helm
from provisioner.helm.state import Release
from provisioner.kubernetes.kubeconfig import Kubeconfig, server_of
from provisioner.kubernetes.kubectl import Kubectl
from provisioner.kubernetes.layer import layer_binary
from provisioner.kubernetes.listing import ClusterListing, Containers
from provisioner.kubernetes.manifest import Manifest
from provisioner.kubernetes.process import ClusterProcess
from provisioner.kubernetes.token import TokenSigner

Object = dict[str, Any]
Row = tuple[str, ...]


class HelmCommands(Protocol):
    """helm, as the resource uses it; see `provisioner.helm.commands.Helm`."""

    def release(self, name: str, *, namespace: str, timeout_seconds: float) -> Release | None: ...

    def current(self, name: str, *, namespace: str, timeout_seconds: float) -> Release | None: ...

    def render(
        self,
        name: str,
        *,
        namespace: str,
        chart: Path,
        values: Mapping[str, object],
        timeout_seconds: float,
    ) -> Manifest: ...

    def manifest(
        self, name: str, revision: int, *, namespace: str, timeout_seconds: float
    ) -> str: ...

    def upgrade(
        self,
        name: str,
        *,
        namespace: str,
        chart: Path,
        values: Mapping[str, object],
        labels: Mapping[str, str],
        description: str,
        take_ownership: bool,
        timeout_seconds: float,
    ) -> None: ...

    def roll_back(
        self, name: str, revision: int, *, namespace: str, timeout_seconds: float
    ) -> None: ...

    def uninstall(self, name: str, *, namespace: str, timeout_seconds: float) -> None: ...


class KubectlCommands(Protocol):
    """kubectl, as the resource uses it; see `provisioner.kubernetes.kubectl.Kubectl`."""

    def parse(self, manifest: str, *, timeout_seconds: float) -> list[Object]: ...

    def live(self, objects: Sequence[Object], *, timeout_seconds: float) -> list[Object]: ...

    def table(
        self,
        kinds: Sequence[str],
        columns: Sequence[str],
        *,
        namespace: str | None = None,
        timeout_seconds: float,
    ) -> list[Row]: ...

    def apply(self, objects: Sequence[Object], *, timeout_seconds: float) -> None: ...

    def annotate(
        self, objects: Sequence[Object], *, key: str, value: str, timeout_seconds: float
    ) -> None: ...

    def await_established(self, names: Sequence[str], *, timeout_seconds: float) -> None: ...

    def objects(self, kind: str, *, namespace: str, timeout_seconds: float) -> list[Object]: ...


class Listing(Protocol):
    """Lists namespaces and definitions; see `provisioner.kubernetes.listing.ClusterListing`."""

    def containers(self, *, timeout_seconds: float) -> Containers: ...


@dataclass(frozen=True, slots=True, kw_only=True)
class HelmSession:
    """helm and kubectl for one cluster, while their folder lasts.

    Args:
        helm: The commands of helm.
        kubectl: The commands of kubectl.
        listing: Lists namespaces and definitions.
        fetch_chart: Returns the local path of a chart, given its bucket and key.
    """

    helm: HelmCommands
    kubectl: KubectlCommands
    listing: Listing
    fetch_chart: Callable[[str, str], Path]


class HelmSessions(Protocol):
    """Opens helm for a cluster and a namespace."""

    def open(
        self, cluster_name: str, namespace: str, clock: Clock
    ) -> AbstractContextManager[HelmSession]: ...


@dataclass(frozen=True, slots=True, kw_only=True)
class EksHelmSessions:
    """helm against EKS, charts from S3.

    Args:
        eks: Tells where the Kubernetes API is.
        token_signer: Makes the tokens for it.
        s3: Holds the charts.
    """

    eks: EksApi
    token_signer: TokenSigner
    s3: S3Api

    @contextmanager
    def open(self, cluster_name: str, namespace: str, clock: Clock) -> Iterator[HelmSession]:
        """Yield helm, kubectl and access to charts; everything written ends with the context.

        Raises:
            ClusterNotFoundError: There is no such EKS cluster.
            ProvisioningError: The cluster cannot be reached, or helm is not there.
        """
        binaries = {name: layer_binary(name, os.environ) for name in ("helm", "kubectl")}
        server = server_of(cluster_name, eks=self.eks, clock=clock)
        with tempfile.TemporaryDirectory(prefix="helm-") as folder:
            home = Path(folder)
            kubeconfig = Kubeconfig(
                path=home / "kubeconfig",
                cluster_name=cluster_name,
                server=server,
                namespace=namespace,
                token_signer=self.token_signer,
            )

            listing = ClusterListing(
                server=server, token=partial(self.token_signer.token, cluster_name)
            )

            def process(name: str) -> ClusterProcess:
                return ClusterProcess(
                    binary=binaries[name],
                    home=home,
                    kubeconfig=kubeconfig.fresh,
                    environment={"PATH": os.environ.get("PATH", os.defpath)},
                )

            yield HelmSession(
                helm=Helm(process=process("helm"), listing=listing),
                kubectl=Kubectl(process=process("kubectl")),
                listing=listing,
                fetch_chart=partial(_fetch_chart, self.s3, home, clock),
            )


def _fetch_chart(s3: S3Api, folder: Path, clock: Clock, bucket: str, key: str) -> Path:
    content = read_object(s3, bucket=bucket, key=key, clock=clock)
    if key.endswith(".zip"):
        return unpack_chart(content, folder=folder / "chart", origin=f"s3://{bucket}/{key}")
    path = folder / "chart.tgz"
    path.write_bytes(content)
    return path
