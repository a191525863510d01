"""Connects a release's commands to its EKS cluster and to the charts in S3."""

from collections.abc import Callable, Iterator
from contextlib import AbstractContextManager, contextmanager
from dataclasses import dataclass

from provisioner.aws.api import S3Api
from provisioner.framework.retry import Clock
from provisioner.helm.chart import fetch_chart
from provisioner.helm.client import ReleaseClient
from provisioner.helm.properties import HelmReleaseProperties
from provisioner.helm.state import Wanted
from provisioner.kubernetes.connection import EksConnection

Connect = Callable[[HelmReleaseProperties, Wanted, Clock], AbstractContextManager[ReleaseClient]]


@dataclass(frozen=True, slots=True, kw_only=True)
class ReleaseConnection:
    """Connects to EKS; charts come from S3.

    Attributes:
        connection: Connects helm and kubectl.
        s3: Holds the charts.
    """

    connection: EksConnection
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
        described = self.connection.describe(properties.cluster_name, clock)
        with self.connection.connect(described, namespace=properties.namespace) as commands:
            yield ReleaseClient(
                properties=properties,
                wanted=wanted,
                clock=clock,
                cluster=commands.cluster,
                run_helm=commands.helm,
                run_kubectl=commands.kubectl,
                home=commands.home,
                fetch_chart=lambda: fetch_chart(
                    self.s3,
                    bucket=properties.chart_bucket,
                    key=properties.chart_key,
                    folder=commands.home,
                    clock=clock,
                ),
            )
