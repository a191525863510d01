"""The stage of a rehearsal, as tests set it: a local AWS, bootstrapped, and a configuration."""

import atexit
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import replace
from functools import cache
from pathlib import Path

from hyperpod_cdk import load_config
from hyperpod_emulator.testing.answers import checked
from hyperpod_rehearsal.cdk_cli import CdkCliProcess
from hyperpod_rehearsal.environment import (
    ALLOWED_CALLS,
    RehearsalEnvironment,
    eks_cluster_of,
    rehearsal_environment,
)
from hyperpod_rehearsal.existing_resources import account_of
from hyperpod_rehearsal.progress import Progress
from hyperpod_rehearsal.stage import Stage
from hyperpod_rehearsal.stand_in_chart import choose_chart
from hyperpod_rehearsal.verification import left_behind
from hyperpod_stacks.app import main
from tests.support.configs import CONFIG_FOLDER
from tests.support.needed_statements import unneeded

DEFAULT = CONFIG_FOLDER / "default.yaml"


class InProcessStage(Stage):
    """A stage that synthesizes in the process of the tests, which takes a quarter of the time.

    A test of its own rehearses as users do (`tests/rehearsal/test_rehearsal.py`), and others
    validate the templates of every shipped configuration.
    """

    def _synthesize(self) -> None:
        code = main(
            config=self.current,
            output=self.assembly,
            chart=self.chart.path,
            scripts=self.scripts,
        )
        assert code == 0


def stage_on(environment: RehearsalEnvironment, config_path: Path, *, directory: Path) -> Stage:
    """Return a stage for a configuration on a running environment.

    Args:
        environment: What stands in for AWS.
        config_path: File of the configuration.
        directory: Gets the cloud assembly, changed configurations and logs.
    """
    config = load_config(config_path)
    return InProcessStage(
        environment=environment,
        config_path=config_path,
        config=config,
        chart=choose_chart(config),
        work_directory=directory,
        progress=Progress(),
    )


@cache
def cdk_cli() -> CdkCliProcess:
    """Return the process of the CDK CLI that all deployments of these tests share."""
    process = CdkCliProcess()
    atexit.register(process.__exit__)
    return process


@contextmanager
def bootstrapped_stage(directory: Path, config_path: Path = DEFAULT) -> Iterator[Stage]:
    """Start a local AWS for a configuration, bootstrap it, and yield the stage."""
    config = load_config(config_path)
    assert config.region is not None
    with rehearsal_environment(
        account=account_of(config),
        region=config.region,
        kubernetes_version=config.eks.version,
        eks_cluster_name=eks_cluster_of(config),
        log_file=directory / "local-aws.log",
        cdk=cdk_cli(),
    ) as environment:
        checks = replace(environment, clients=checked(environment.clients))
        stage = stage_on(checks, config_path, directory=directory)
        stage.bootstrap()
        yield stage


@contextmanager
def stage_until_destroyed(
    directory: Path, config_path: Path, *, left: Callable[[Stage], object] = lambda _: None
) -> Iterator[Stage]:
    """As `bootstrapped_stage`; in the end, nothing is left and no right was superfluous.

    Args:
        directory: Gets the cloud assembly, changed configurations and logs.
        config_path: File of the configuration.
        left: Looks at what a deployment must leave as it found it. Default: at nothing.
    """
    with bootstrapped_stage(directory, config_path) as stage:
        before = left(stage)
        yield stage
        assert stage.destroy() is None
        assert left(stage) == before
        assert left_behind(stage.environment, stacks=stage.stacks, config=stage.config) == []
        record = directory / ALLOWED_CALLS
        superfluous = unneeded(directory / "cdk.out", allowed_calls=record)
        assert superfluous == [], superfluous
