"""The stacks of one deployment."""

from pathlib import Path
from pkgutil import resolve_name
from tempfile import TemporaryDirectory

import aws_cdk as cdk

from hyperpod_cdk.checks import cross_section_findings, findings
from hyperpod_cdk.config.config import Config
from hyperpod_cdk.helm.chart import HyperPodChart
from hyperpod_cdk.helm.chart_rules import placeholder_chart
from hyperpod_cdk.node_groups.node_groups import OF_NODE_GROUPS
from hyperpod_cdk.schema.errors import refuse_errors
from hyperpod_cdk.synthesis.refusals import report
from hyperpod_stacks.deployed_stack import Stacks
from hyperpod_stacks.platform_stack import PlatformStack
from hyperpod_stacks.table import DEPLOYMENT_TAG, NODES, STACKS, stack_name, stack_names


def add_stacks(
    scope: cdk.Stage,
    *,
    config: Config,
    chart: HyperPodChart | None = None,
    scripts: Path | None = None,
) -> None:
    """Add the stacks of a deployment to an app, or to a stage of one.

    All others depend on the platform alone, so they deploy side by side; but operators follow the
    nodes that they run on, and nodes on which HyperPod mounts a file system follow that.

    Args:
        scope: The app, or the stage of an environment of a pipeline.
        config: What to deploy.
        chart: Chart of the HyperPod dependencies; with a placeholder no stack can be deployed.
            Default: the configured or the official one, or a placeholder while that is not
            packaged.
        scripts: Folder of the lifecycle scripts. Default: the project's own.

    Raises:
        ConfigError: A rule about the whole configuration refuses it, as for one made in Python;
            `load_config` has already run them on a file.
        HyperPodChartError: The chart cannot be read, has no image for the region, lacks a
            component, or does not know a value.
    """
    kinds = stack_names(config)
    # Before the first stack, whose provisioner takes seconds to bundle.
    refuse_errors(findings(config), place=config.name)
    stacks = Stacks(config=config, chart=chart, scripts=scripts)
    for kind in kinds:
        made_by = resolve_name(f"hyperpod_stacks.{STACKS[kind].made_by}")
        stacks.made[kind] = made_by(scope, kind, stacks)
    orchestration = stacks.of(PlatformStack).orchestration
    for stack in stacks.made.values():
        orchestration.add_to_stack(stack)
    # `EksCluster` and `HyperPodCluster` show what concerns them alone.
    nodes = next(stacks.made[kind] for kind in NODES if kind in stacks.made)
    report(nodes, cross_section_findings(config))
    # The stacks themselves, which CDK leaves out by its flag explicitStackTags; but CloudFormation
    # hands a stack's tags on to its resources.
    for key, value in config.tags.items():
        cdk.Tags.of(scope).add(key, value, exclude_resource_types=OF_NODE_GROUPS)
    for kind, stack in stacks.made.items():
        if kind != "node-groups":
            for key, value in {**config.tags, DEPLOYMENT_TAG: config.name}.items():
                cdk.Tags.of(stack).add(key, value, include_resource_types=["aws:cdk:stack"])


def log_groups_of(config: Config) -> list[str]:
    """Return the patterns of the names of the log groups that a deployment encrypts with its key.

    The stacks are made for it, without their assets.
    """
    context = {"aws:cdk:bundling-stacks": [], "aws:cdk:disable-asset-staging": True}
    with TemporaryDirectory() as folder:
        app = cdk.App(outdir=folder, context=context)
        add_stacks(app, config=config, chart=placeholder_chart())
        platform = app.node.find_child(stack_name(config, "platform"))
        assert isinstance(platform, PlatformStack)  # noqa: S101 - what `add_stacks` makes
        return platform.log_groups.patterns
