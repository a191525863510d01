"""The regions of a pipeline, each a local AWS, and the one address that commands know for all.

A request says in its signature for which region it is:
https://docs.aws.amazon.com/IAM/latest/UserGuide/reference_sigv-create-signed-request.html
"""

from __future__ import annotations

import asyncio
import re
import threading
from collections.abc import Iterator, Mapping, Sequence
from contextlib import ExitStack
from dataclasses import dataclass
from pathlib import Path
from typing import Self
from urllib.parse import urlsplit

from hyperpod_cdk import Config, Loaded
from hyperpod_cdk.pipeline.section import EnvironmentConfig
from hyperpod_cli.terminal.errors import OpsError
from hyperpod_emulator.aws.local_aws import LOOPBACK
from hyperpod_rehearsal.cdk_cli import CdkCli, CdkCliProcess
from hyperpod_rehearsal.deployer import Deployer
from hyperpod_rehearsal.environment import (
    RehearsalEnvironment,
    eks_cluster_of,
    rehearsal_environment,
)
from hyperpod_rehearsal.existing_resources import existing_resources
from hyperpod_rehearsal.existing_resources.storage import bucket
from hyperpod_rehearsal.pipeline.cloud_formation import StackActions
from hyperpod_rehearsal.report import Fact
from hyperpod_rehearsal.verification import (
    cluster_tools,
    running_nodes,
    stack_outputs,
    verify,
    wait_for_nodes,
)
from hyperpod_stacks.table import stack_names

_SCOPE = re.compile(
    rb"Credential=[^/%]+(?:/|%2F)\d{8}(?:/|%2F)([a-z0-9-]+)(?:/|%2F)", re.IGNORECASE
)
_END_OF_HEAD = b"\r\n\r\n"
_CONNECTION = re.compile(rb"\r\nconnection:[^\r]*", re.IGNORECASE)
# 100 Continue, for which who sends a body may wait.
_INTERIM = b"HTTP/1.1 100"
_MOST_HEAD_BYTES = 1024 * 1024


class RegionRouter:
    """Passes each request on to the local AWS of its region; a context manager.

    The first region gets what is not signed.
    """

    def __init__(self, endpoints: Mapping[str, str]) -> None:
        self._ports = {
            region.encode(): urlsplit(url).port or 0 for region, url in endpoints.items()
        }
        self._loop = asyncio.new_event_loop()
        self._thread = threading.Thread(target=self._loop.run_forever, daemon=True)
        self._server: asyncio.Server
        self._port = 0

    @property
    def endpoint(self) -> str:
        """The address."""
        return f"http://{LOOPBACK}:{self._port}"

    def __enter__(self) -> Self:
        """Listen on a free port."""
        self._thread.start()
        starting = asyncio.run_coroutine_threadsafe(
            asyncio.start_server(self._serve, LOOPBACK, 0, limit=_MOST_HEAD_BYTES), self._loop
        )
        self._server = starting.result()
        self._port = self._server.sockets[0].getsockname()[1]
        return self

    def __exit__(self, *_error: object) -> None:
        """Stop listening."""
        self._loop.call_soon_threadsafe(self._server.close)
        asyncio.run_coroutine_threadsafe(_cancel_others(), self._loop).result()
        self._loop.call_soon_threadsafe(self._loop.stop)
        self._thread.join()

    async def _serve(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        try:
            head = await reader.readuntil(_END_OF_HEAD)
            match = _SCOPE.search(head)
            region = match[1] if match is not None else b""
            port = self._ports.get(region, next(iter(self._ports.values())))
            to_reader, to_writer = await asyncio.open_connection(LOOPBACK, port)
            to_writer.write(_closing(head))
            sending = asyncio.create_task(_copy(reader, to_writer))
            answer = await to_reader.readuntil(_END_OF_HEAD)
            while answer.startswith(_INTERIM):
                writer.write(answer)
                answer = await to_reader.readuntil(_END_OF_HEAD)
            writer.write(_closing(answer))
            await _copy(to_reader, writer)
            sending.cancel()
            to_writer.close()
        except (asyncio.IncompleteReadError, ConnectionError):
            pass  # the caller has gone
        finally:
            writer.close()


def _closing(head: bytes) -> bytes:
    """Return a head that ends its connection: the next request may be for another region."""
    head = _CONNECTION.sub(b"", head).removesuffix(b"\r\n")
    return head + b"Connection: close" + _END_OF_HEAD


async def _cancel_others() -> None:
    others = asyncio.all_tasks() - {asyncio.current_task()}
    for task in others:
        task.cancel()
    await asyncio.gather(*others, return_exceptions=True)


async def _copy(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
    while data := await reader.read(64 * 1024):
        writer.write(data)
        await writer.drain()


_BUCKET = "rehearsal-artifacts"


@dataclass(frozen=True, kw_only=True, slots=True)
class RehearsedEnvironment:
    """An environment of the pipeline, and the local AWS that it is deployed to."""

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
            scripts=self.config.project_scripts.directory,
        )

    def bootstrap(self, *, cli: CdkCli, trusted: str) -> None:
        """Bootstrap it with the least rights, and make what the configuration names."""
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
        bucket(_BUCKET).make(self.environment.clients)
        aws = self.environment.aws
        secret = aws.environment()["AWS_SECRET_ACCESS_KEY"]
        return StackActions(
            # The local AWS takes an account for the key of its root user.
            key={"AWS_ACCESS_KEY_ID": pipeline_account, "AWS_SECRET_ACCESS_KEY": secret},
            clients=self.environment.clients,
            endpoint=aws.endpoint,
            region=self.region,
            bucket=_BUCKET,
        )

    def nodes(self) -> int:
        """Return how many nodes run."""
        return running_nodes(self.config, clients=self.environment.clients)

    def verify(self) -> Iterator[Fact]:
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


def start_places(
    loaded: Loaded, *, directory: Path, started: ExitStack
) -> Sequence[RehearsedEnvironment]:
    """Start a local AWS for each environment, in a folder of its own.

    Raises:
        OpsError: There is no pipeline, or two environments are in one region.
        LocalAwsError: One did not start.
    """
    if loaded.pipeline is None:
        raise OpsError("The configuration describes no pipeline.")
    regions = [str(deployment.config.region) for deployment in loaded.deployments]
    for region in regions:
        if regions.count(region) > 1:
            raise OpsError(
                f"Two environments are in {region}; a rehearsal tells them apart by region, so it "
                "plays those in regions of their own alone."
            )
    cdk = started.enter_context(CdkCliProcess())
    places: list[RehearsedEnvironment] = []
    for section, deployment in zip(loaded.pipeline.environments, loaded.deployments, strict=True):
        config = deployment.config
        region = str(config.region)
        folder = directory / section.name
        environment = started.enter_context(
            rehearsal_environment(
                account=section.account,
                region=region,
                kubernetes_version=config.eks.version,
                eks_cluster_name=eks_cluster_of(config),
                log_file=folder / "local-aws.log",
                cdk=cdk,
            )
        )
        places.append(
            RehearsedEnvironment(
                section=section,
                config=config,
                config_path=deployment.path,
                environment=environment,
                directory=folder,
            )
        )
    return places
