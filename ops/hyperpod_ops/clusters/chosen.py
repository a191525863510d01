"""Which cluster a command is about."""

from dataclasses import dataclass
from pathlib import Path

from hyperpod_cdk import Config, load_config
from hyperpod_ops.aws_client import AwsClient
from hyperpod_ops.clusters.cluster import HyperPodCluster, find_cluster
from hyperpod_ops.session import AwsSession, aws_session


@dataclass(frozen=True, kw_only=True)
class Chosen:
    """A cluster, and where it is.

    Attributes:
        name: Its name.
        session: The account and the region.
        config: The configuration; None for a cluster that is named by itself.
    """

    name: str
    session: AwsSession
    config: Config | None

    @property
    def sagemaker(self) -> AwsClient:
        """Client of SageMaker."""
        return self.session.client("sagemaker")

    def found(self) -> HyperPodCluster:
        """Return the cluster as it is now.

        Raises:
            OpsError: There is none.
            ClientError: AWS refused to say.
            BotoCoreError: AWS could not be asked.
        """
        return find_cluster(self.sagemaker, self.name)


def chosen_cluster(config: Path, *, cluster: str | None, region: str | None) -> Chosen:
    """Return the cluster that options name.

    Args:
        config: File of the configuration; read unless a cluster is named.
        cluster: Name of a cluster. Default: the configuration's.
        region: Its region. Default: the configuration's, else the environment's.

    Raises:
        ConfigError: The configuration cannot be used.
        OpsError: No region is known.
    """
    if cluster is not None:
        return Chosen(name=cluster, session=aws_session(region=region), config=None)
    loaded = load_config(config)
    session = aws_session(region=region, config=loaded)
    return Chosen(name=loaded.cluster.name, session=session, config=loaded)
