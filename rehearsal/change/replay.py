"""Brings a local AWS into the state of an archive."""

import json
import re
from collections.abc import Iterable, Iterator
from contextlib import contextmanager
from pathlib import Path

from emulator.kubernetes import InProcessControlPlane
from hyperpod_cdk import Config, load_config
from hyperpod_cli.aws.cluster_template import Template
from hyperpod_cli.inspect.archive.archive import Archive
from rehearsal.cdk_cli import CdkCliProcess
from rehearsal.change.assembly import ArchivedVersion, hide_in
from rehearsal.change.given_assembly import copied
from rehearsal.environment import rehearsal_environment
from rehearsal.existing_resources.resource import ExistingResource
from rehearsal.existing_resources.roles import principal
from rehearsal.existing_resources.storage import bucket, kms_key
from rehearsal.progress import Progress
from rehearsal.stage import Stage
from rehearsal.stand_in_chart import ChartChoice, choose_chart

_PRINCIPAL = re.compile(r"arn:[\w-]+:iam::\d{12}:(?:role|user)/[\w+=,.@/-]+(?![\w*$])")
_KEY = re.compile(r"arn:[\w-]+:kms:[\w-]+:\d{12}:key/[\w-]+")
_LINKED = re.compile(r'"DataRepositoryPath": "s3://([a-z0-9.-]+)')


class ReplayError(Exception):
    """What is deployed cannot be rehearsed; the text says why."""


class _ChangeStage(Stage):
    """Leaves out CDK's validation of templates, which `make diff` and `make deploy` do."""

    def _synthesize(self) -> None:
        self._cli.synth(config=self.current, validate=False, on_line=self._say_warning)


@contextmanager
def replayed(
    archive: Archive,
    *,
    config_path: Path,
    work_directory: Path,
    progress: Progress,
    cdk: CdkCliProcess | None = None,
    assembly: Path | None = None,
    stage_type: type[Stage] | None = None,
    is_again: bool = False,
) -> Iterator[Stage]:
    """Yield a stage on which an archive's deployment is, with a changed configuration in force.

    Args:
        archive: The archive.
        config_path: File of the changed configuration.
        work_directory: Gets the cloud assemblies and logs.
        progress: Prints what is done.
        cdk: The CDK CLI. Default: one that ends with it.
        assembly: What was synthesized of the configuration. Default: it is synthesized.
        stage_type: How it synthesizes. Default: as users do.
        is_again: Whether the same was done in this folder before, whose cloud assemblies are taken.

    Raises:
        AppRefusedError: The app refused the configuration.
        LocalAwsError: The local AWS did not start.
        ReplayError: The local AWS cannot be brought into the state.
    """
    config = load_config(config_path)
    chart = choose_chart(config)
    if assembly is not None:
        chart = ChartChoice(path=assembly, description=f"the chart of {assembly}")
    manifest, control_plane = archive.manifest, archive.deployment.control_plane
    work_directory.mkdir(parents=True, exist_ok=True)
    progress.say("Starting the local AWS ...")
    with rehearsal_environment(
        account=manifest.account,
        region=manifest.region,
        kubernetes=InProcessControlPlane(kubernetes_version=_version(archive, config)),
        eks_cluster_name=None if control_plane is None else str(control_plane["name"]),
        log_file=work_directory / "local-aws.log",
        cdk=cdk,
    ) as environment:
        stage = (stage_type or _ChangeStage)(
            environment=environment,
            config_path=config_path,
            config=config,
            chart=chart,
            work_directory=work_directory,
            progress=progress,
            attempts=[],
        )
        if assembly is not None and not is_again:
            copied(assembly, to=stage.assembly)
        if assembly is not None or is_again:
            stage.take_synthesized()
        stage.bootstrap()
        if not is_again:
            hide_in(stage.assembly)
        for resource in named_in(archive.templates.values()):
            resource.make(environment.clients)
        stage.change_version(ArchivedVersion(archive=archive, config=config_path))
        progress.say("What is deployed, as the archive has it:")
        error = stage.deploy()
        if error is not None:
            reason, *_ = error.splitlines()
            raise ReplayError(
                f"What is deployed cannot be rehearsed: {reason} Its logs are in {work_directory}"
            )
        stage.restore()
        yield stage


def _version(archive: Archive, config: Config) -> str:
    found = archive.deployment.control_plane
    return config.eks.version if found is None else str(found["version"])


def named_in(templates: Iterable[Template]) -> Iterator[ExistingResource]:
    """Yield the roles, users, keys and linked buckets that templates name, each once."""
    text = "\n".join(json.dumps(each) for each in templates)
    for pattern, resource in ((_PRINCIPAL, principal), (_KEY, kms_key), (_LINKED, bucket)):
        yield from map(resource, dict.fromkeys(pattern.findall(text)))
