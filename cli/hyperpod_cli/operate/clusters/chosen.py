"""Which cluster a command is about."""

import shlex
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

from hyperpod_cdk import Config, load_config
from hyperpod_cli.aws.session import AwsClient, AwsSession, aws_session
from hyperpod_cli.operate.clusters.cluster import HyperPodCluster, find_cluster
from hyperpod_cli.terminal.options import DEFAULT_CONFIG


@dataclass(frozen=True, kw_only=True)
class Chosen:
    """A cluster, and where it is.

    Attributes:
        name: Its name.
        session: The account and the region.
        config: The configuration; None for a cluster that is named by itself.
        file: File of the configuration.
        options: The options that name it, for a next step.
    """

    name: str
    session: AwsSession
    config: Config | None
    file: Path = DEFAULT_CONFIG
    options: Sequence[str] = ()

    def command(self, *arguments: str) -> str:
        """Return a command of `hyperpod-ops` about this cluster, to be copied."""
        return shlex.join(["hyperpod-ops", *arguments, *self.options])

    def deployed_by(self) -> str:
        """Return the command that deploys the configuration, to be copied."""
        given = [] if self.file == DEFAULT_CONFIG else [f"CONFIG={self.file}"]
        return shlex.join(["make", "deploy", *given])

    @property
    def sagemaker(self) -> AwsClient:
        """Client of SageMaker."""
        return self.session.client("sagemaker")

    def found(self) -> HyperPodCluster:
        """Return the cluster as it is now.

        Raises:
            NoClusterError: There is none.
            ClientError: AWS refused to say.
            BotoCoreError: AWS could not be asked.
        """
        deployed_by = "" if self.config is None else self.deployed_by()
        return find_cluster(self.sagemaker, self.name, deployed_by=deployed_by)


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
    where = [] if region is None else ["--region", region]
    if cluster is not None:
        return Chosen(
            name=cluster,
            session=aws_session(region=region),
            config=None,
            options=["--cluster", cluster, *where],
        )
    loaded = load_config(config)
    session = aws_session(region=region, config=loaded)
    file = [] if config == DEFAULT_CONFIG else ["--config", str(config)]
    return Chosen(
        name=loaded.cluster.name,
        session=session,
        config=loaded,
        file=config,
        options=[*file, *where],
    )
