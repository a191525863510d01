"""The stacks of one deployment, and how they depend on each other."""

from collections.abc import Sequence
from pathlib import Path

import aws_cdk as cdk

from hyperpod_cdk import Config, ConfigError, Loaded
from hyperpod_cdk.checks import cross_section_findings, findings
from hyperpod_cdk.config.stack_names import stack_name
from hyperpod_cdk.helm.chart.chart import HyperPodChart
from hyperpod_cdk.helm.chart.rules import refuse_unfit
from hyperpod_cdk.helm.dependencies import PlaceholderRule
from hyperpod_cdk.schema.errors import refuse_errors
from hyperpod_cdk.synthesis.refusals import report
from stacks.addons_stack import AddonsStack
from stacks.hyperpod_stack import HyperPodStack
from stacks.pipeline_stack import PipelineStack
from stacks.platform_stack import PlatformStack
from stacks.storage_stack import StorageStack

_REPOSITORY = Path(__file__).resolve().parents[1]


def add_stacks(
    scope: cdk.Stage, *, config: Config, chart: HyperPodChart, scripts: Path | None = None
) -> None:
    """Add the platform, storage, add-ons and HyperPod stacks to an app, or to a stage of one.

    All others depend on the platform alone, so they deploy side by side.

    Args:
        scope: The app, or the stage of an environment of a pipeline.
        config: What to deploy.
        chart: Chart of the HyperPod dependencies; with a placeholder no stack can be deployed.
        scripts: Folder of the lifecycle scripts. Default: the project's own.

    Raises:
        ConfigError: A rule about the whole configuration refuses it, as for one made in Python;
            `load_config` has already run them on a file.
        HyperPodChartError: The chart has no image for the region, lacks a component, or does not
            know a value.
    """
    # Before the first stack, whose provisioner takes seconds to bundle.
    refuse_errors(findings(config), place=config.name)
    refuse_unfit(
        chart,
        helm=config.helm,
        region=config.region or cdk.Aws.REGION,
        instance_types=config.cluster.instance_types,
    )
    environment = cdk.Environment(region=config.region)
    platform = PlatformStack(
        scope,
        stack_name(config, "platform"),
        config=config,
        scripts=scripts,
        env=environment,
        termination_protection=config.termination_protection,
        description="HyperPod on EKS: network, control plane, lifecycle bucket, roles, provisioner",
    )
    # In the order of `cdk destroy --all`: a protected storage stack stops it before the add-ons go.
    dependents: list[cdk.Stack] = []
    if config.storage is not None:
        dependents.append(
            StorageStack(
                scope,
                stack_name(config, "storage"),
                storage=config.storage,
                platform=platform,
                env=environment,
                description="HyperPod on EKS: FSx for Lustre and its claim",
            )
        )
    if config.addons_that_need_nodes:
        dependents.append(
            AddonsStack(
                scope,
                stack_name(config, "addons"),
                config=config,
                platform=platform,
                env=environment,
                description="HyperPod on EKS: EKS add-ons that need nodes",
            )
        )
    hyperpod = HyperPodStack(
        scope,
        stack_name(config, "hyperpod"),
        config=config,
        chart=chart,
        platform=platform,
        env=environment,
        description="HyperPod on EKS: Helm dependencies and HyperPod cluster",
    )
    dependents.append(hyperpod)
    for stack in dependents:
        stack.add_stack_dependency(platform)
    if chart.is_placeholder:
        for stack in (platform, *dependents):
            PlaceholderRule(stack, "Chart")
    # `EksCluster` and `HyperPodCluster` show what concerns them alone.
    report(hyperpod, cross_section_findings(config))
    for key, value in config.tags.items():
        cdk.Tags.of(scope).add(key, value)
        # The stacks themselves, which CDK leaves out by its flag explicitStackTags.
        cdk.Tags.of(scope).add(key, value, include_resource_types=["aws:cdk:stack"])


def add_pipeline(
    app: cdk.App,
    *,
    loaded: Loaded,
    path: Path,
    charts: Sequence[HyperPodChart],
    scripts: Path | None = None,
) -> None:
    """Add a pipeline's stack, and a stage with the stacks of each of its environments.

    Args:
        app: The app.
        loaded: The pipeline, and what it deploys.
        path: Its configuration file.
        charts: Chart of the HyperPod dependencies for each deployment.
        scripts: Folder of the lifecycle scripts. Default: the project's own.

    Raises:
        ConfigError: As for `add_stacks`, or a file is not in the repository.
        HyperPodChartError: As for `add_stacks`.
    """
    pipeline = loaded.pipeline
    if pipeline is None:
        raise ConfigError([f"{path}: has no pipeline"])
    stages = []
    for environment, deployment, chart in zip(
        pipeline.environments, loaded.deployments, charts, strict=True
    ):
        _in_repository(deployment.path)
        place = cdk.Environment(account=environment.account, region=deployment.config.region)
        stage = cdk.Stage(app, environment.name, env=place)
        add_stacks(stage, config=deployment.config, chart=chart, scripts=scripts)
        stages.append(stage)
    PipelineStack(
        app,
        f"{pipeline.name}-pipeline",
        pipeline=pipeline,
        config_path=_in_repository(path),
        stages=stages,
        env=cdk.Environment(account=pipeline.account, region=pipeline.region),
        description="HyperPod on EKS: the pipeline that deploys the other stacks",
    )


def _in_repository(path: Path) -> str:
    """Return the path of a configuration file as builds of a clone find it."""
    found = path.resolve()
    if not found.is_relative_to(_REPOSITORY):
        message = f"must be in {_REPOSITORY}: the pipeline's builds read it from a clone of that"
        raise ConfigError([f"{path}: {message}"])
    return found.relative_to(_REPOSITORY).as_posix()
