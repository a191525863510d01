"""What delivers the others: a pipeline, and the stacks of each of its environments."""

from collections.abc import Sequence
from pathlib import Path

import aws_cdk as cdk
from constructs import Construct

from hyperpod_cdk.config.config import Config
from hyperpod_cdk.helm.chart import HyperPodChart
from hyperpod_cdk.pipeline.pipeline import DeploymentPipeline
from hyperpod_cdk.pipeline.section import PipelineConfig
from hyperpod_cdk.schema.errors import ConfigError
from hyperpod_stacks.deployment import add_stacks


class PipelineStack(cdk.Stack):
    """A pipeline that deploys stages."""

    def __init__(
        self,
        scope: Construct,
        *,
        pipeline: PipelineConfig,
        config_path: str,
        stages: Sequence[cdk.Stage],
    ) -> None:
        super().__init__(
            scope,
            f"{pipeline.name}-pipeline",
            env=cdk.Environment(account=pipeline.account, region=pipeline.region),
            description="HyperPod on EKS: the pipeline that deploys the other stacks",
        )
        DeploymentPipeline(
            self, "Pipeline", pipeline=pipeline, config_path=config_path, stages=stages
        )
        for key, value in pipeline.tags.items():
            cdk.Tags.of(self).add(key, value)
            cdk.Tags.of(self).add(key, value, include_resource_types=["aws:cdk:stack"])


def add_pipeline(
    app: cdk.App,
    *,
    pipeline: PipelineConfig,
    path: Path,
    deployments: Sequence[tuple[Path, Config]],
    charts: Sequence[HyperPodChart],
    repository: Path,
    scripts: Path | None = None,
) -> None:
    """Add a pipeline's stack, and a stage with the stacks of each of its environments.

    Args:
        app: The app.
        pipeline: The pipeline.
        path: Its configuration file.
        deployments: File and configuration of each of its environments.
        charts: Chart of the HyperPod dependencies for each deployment.
        repository: What the pipeline's builds clone.
        scripts: Folder of the lifecycle scripts. Default: the project's own.

    Raises:
        ConfigError: As for `add_stacks`, or a file is not in the repository.
        HyperPodChartError: As for `add_stacks`.
    """
    stages = []
    for environment, (file, config), chart in zip(
        pipeline.environments, deployments, charts, strict=True
    ):
        _in_repository(file, repository)
        place = cdk.Environment(account=environment.account, region=config.region)
        stage = cdk.Stage(app, environment.name, env=place)
        add_stacks(stage, config=config, chart=chart, scripts=scripts)
        stages.append(stage)
    config_path = _in_repository(path, repository)
    PipelineStack(app, pipeline=pipeline, config_path=config_path, stages=stages)


def _in_repository(path: Path, repository: Path) -> str:
    """Return the path of a configuration file as builds of a clone find it."""
    found = path.resolve()
    if not found.is_relative_to(repository):
        message = f"must be in {repository}: the pipeline's builds read it from a clone of that"
        raise ConfigError([f"{path}: {message}"])
    return found.relative_to(repository).as_posix()
