"""The environments of a pipeline, each in a local AWS of its own: an account and a region."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from contextlib import ExitStack
from dataclasses import dataclass
from pathlib import Path

import boto3

from emulator.kubernetes import InProcessControlPlane
from hyperpod_cdk import Config, Loaded
from hyperpod_cdk.pipeline.section import EnvironmentConfig
from hyperpod_stacks.table import stack_names
from rehearsal.cdk_cli import CdkCli, CdkCliProcess
from rehearsal.deployer import Deployer
from rehearsal.environment import RehearsalEnvironment, rehearsal_environment
from rehearsal.existing_resources import existing_resources
from rehearsal.pipeline.cloud_formation import StackActions
from rehearsal.pipeline.definition import UnplayableError
from rehearsal.report import Check
from rehearsal.verification.checks import verify
from rehearsal.verification.inspection import (
    cluster_tools,
    running_nodes,
    stack_outputs,
    wait_for_nodes,
)

_BUCKET = "rehearsal-artifacts"
_LIFECYCLE = Path(__file__).resolve().parents[2] / "lifecycle"


@dataclass(frozen=True, kw_only=True, slots=True)
class Place:
    """An environment, and the local AWS that it is deployed to.

    Attributes:
        section: What the pipeline's configuration says of it.
        config: What is deployed.
        config_path: The file of that.
        environment: The local AWS.
        directory: Gets logs.
    """

    section: EnvironmentConfig
    config: Config
    config_path: Path
    environment: RehearsalEnvironment
    directory: Path

    @property
    def region(self) -> str:
        """Its region."""
        return self.environment.region

    def cli(self, *, assembly: Path, chart: Path) -> CdkCli:
        """Return the CDK CLI with the rights of the account's administrator."""
        return CdkCli(
            process=self.environment.cdk,
            account=self.environment.aws.account,
            credentials=self.environment.aws.environment(),
            assembly=assembly,
            work_directory=self.directory,
            chart=chart,
            scripts=_LIFECYCLE,
        )

    def bootstrap(self, *, cli: CdkCli, trusted: str) -> None:
        """Bootstrap it with the least rights, and make what the configuration names.

        Args:
            cli: The CDK CLI, with the templates of this environment.
            trusted: Account of the pipeline.
        """
        deployer = Deployer(
            deployment=self.config.name,
            clients=self.environment.clients,
            region=self.region,
            account=self.environment.aws.account,
        )
        policies = deployer.allow(cli.assembly, bootstrapped=False)
        cli.bootstrap(region=self.region, policies=policies, trusted=trusted)
        for resource in existing_resources(self.config):
            resource.make(self.environment.clients)

    def stack_actions(self, *, pipeline_account: str) -> StackActions:
        """Return what runs the pipeline's actions on its stacks."""
        # S3 takes the constraint for every region but its first one.
        home = {} if self.region == "us-east-1" else {"LocationConstraint": self.region}
        self.environment.clients("s3").create_bucket(
            Bucket=_BUCKET, **({"CreateBucketConfiguration": home} if home else {})
        )
        aws = self.environment.aws
        session = boto3.Session(
            # The local AWS takes an account for the key of its root user.
            aws_access_key_id=pipeline_account,
            aws_secret_access_key=aws.environment()["AWS_SECRET_ACCESS_KEY"],
            region_name=self.region,
        )
        return StackActions(
            session=session,
            clients=self.environment.clients,
            endpoint=aws.endpoint,
            region=self.region,
            bucket=_BUCKET,
        )

    def nodes(self) -> int:
        """Return how many nodes run."""
        return running_nodes(self.config, clients=self.environment.clients)

    def verify(self) -> Iterator[Check]:
        """Yield what must hold of a deployment."""
        clients = self.environment.clients
        names = list(stack_names(self.config).values())
        wait_for_nodes(self.config, clients=clients)
        yield from verify(
            self.config,
            tools=cluster_tools(self.environment, directory=self.directory),
            clients=clients,
            outputs=stack_outputs(clients, names),
        )


def start_places(loaded: Loaded, *, directory: Path, started: ExitStack) -> Sequence[Place]:
    """Start a local AWS for each environment.

    Args:
        loaded: The pipeline, and what it deploys.
        directory: Gets a folder for each.
        started: Stops them.

    Raises:
        UnplayableError: There is no pipeline, or two environments are in one region.
        LocalAwsError: One did not start.
    """
    if loaded.pipeline is None:
        raise UnplayableError("The configuration describes no pipeline.")
    regions = [str(deployment.config.region) for deployment in loaded.deployments]
    for region in regions:
        if regions.count(region) > 1:
            raise UnplayableError(
                f"Two environments are in {region}; a rehearsal tells them apart by region, so it "
                "plays those in regions of their own alone."
            )
    cdk = started.enter_context(CdkCliProcess())
    places: list[Place] = []
    for section, deployment in zip(loaded.pipeline.environments, loaded.deployments, strict=True):
        config = deployment.config
        region = str(config.region)
        own = directory / section.name
        environment = started.enter_context(
            rehearsal_environment(
                account=section.account,
                region=region,
                kubernetes=InProcessControlPlane(kubernetes_version=config.eks.version),
                eks_cluster_name=config.eks_cluster_name,
                log_file=own / "local-aws.log",
                cdk=cdk,
            )
        )
        places.append(
            Place(
                section=section,
                config=config,
                config_path=deployment.path,
                environment=environment,
                directory=own,
            )
        )
    return places
