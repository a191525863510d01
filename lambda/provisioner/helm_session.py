"""Opens helm for one EKS cluster: a fresh folder, a kubeconfig, and nothing left behind."""

# The methods of the protocols are those of the classes they stand for, documented there.
# ruff: noqa: D102

import os
import tempfile
from collections.abc import Callable, Iterator, Mapping
from contextlib import AbstractContextManager, contextmanager
from dataclasses import dataclass
from functools import partial
from pathlib import Path
from typing import Protocol

from provisioner.archive import unpack_chart
from provisioner.aws_api import EksApi, S3Api
from provisioner.eks_token import TokenSigner
from provisioner.helm import Helm
from provisioner.helm_process import HelmProcess, find_helm
from provisioner.helm_release_state import Release
from provisioner.kubeconfig import write_kubeconfig
from provisioner.retry import Clock
from provisioner.s3_objects import read_object


class HelmCommands(Protocol):
    """helm, as the resource uses it; see `provisioner.helm.Helm`."""

    def release(self, name: str, *, namespace: str, timeout_seconds: float) -> Release | None: ...

    def upgrade(
        self,
        name: str,
        *,
        namespace: str,
        chart: Path,
        values: Mapping[str, object],
        labels: Mapping[str, str],
        description: str,
        timeout_seconds: float,
    ) -> None: ...

    def roll_back(
        self, name: str, revision: int, *, namespace: str, timeout_seconds: float
    ) -> None: ...

    def uninstall(self, name: str, *, namespace: str, timeout_seconds: float) -> None: ...


@dataclass(frozen=True, slots=True, kw_only=True)
class HelmSession:
    """helm for one cluster, while its folder lasts.

    Args:
        helm: The commands.
        fetch_chart: Returns the local path of a chart, given its bucket and key.
    """

    helm: HelmCommands
    fetch_chart: Callable[[str, str], Path]


class HelmSessions(Protocol):
    """Opens helm for a cluster."""

    def open(self, cluster_name: str, clock: Clock) -> AbstractContextManager[HelmSession]: ...


@dataclass(frozen=True, slots=True, kw_only=True)
class EksHelmSessions:
    """helm against EKS, charts from S3.

    Args:
        eks: Tells where the Kubernetes API is.
        token_signer: Makes the token for it.
        s3: Holds the charts.
    """

    eks: EksApi
    token_signer: TokenSigner
    s3: S3Api

    @contextmanager
    def open(self, cluster_name: str, clock: Clock) -> Iterator[HelmSession]:
        """Yield helm and access to charts; everything written ends with the context.

        Raises:
            ClusterNotFoundError: There is no such EKS cluster.
            ProvisioningError: The cluster cannot be reached, or helm is not there.
        """
        binary = find_helm(os.environ)
        with tempfile.TemporaryDirectory(prefix="helm-") as folder:
            home = Path(folder)
            kubeconfig = home / "kubeconfig"
            write_kubeconfig(
                kubeconfig,
                cluster_name=cluster_name,
                eks=self.eks,
                token_signer=self.token_signer,
                clock=clock,
            )
            process = HelmProcess(
                binary=binary,
                home=home,
                kubeconfig=kubeconfig,
                environment={"PATH": os.environ.get("PATH", os.defpath)},
            )
            yield HelmSession(
                helm=Helm(process=process),
                fetch_chart=partial(_fetch_chart, self.s3, home, clock),
            )


def _fetch_chart(s3: S3Api, folder: Path, clock: Clock, bucket: str, key: str) -> Path:
    content = read_object(s3, bucket=bucket, key=key, clock=clock)
    if key.endswith(".zip"):
        return unpack_chart(content, folder=folder / "chart", origin=f"s3://{bucket}/{key}")
    path = folder / "chart.tgz"
    path.write_bytes(content)
    return path
