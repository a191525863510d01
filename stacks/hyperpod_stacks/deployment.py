"""The stacks of one deployment, and how they depend on each other."""

from collections.abc import Callable
from pathlib import Path
from typing import TypeVar

import aws_cdk as cdk

from hyperpod_cdk.checks import cross_section_findings, findings
from hyperpod_cdk.config.config import Config
from hyperpod_cdk.helm.chart import HyperPodChart
from hyperpod_cdk.node_groups.node_groups import OF_NODE_GROUPS
from hyperpod_cdk.schema.errors import refuse_errors
from hyperpod_cdk.synthesis.refusals import report
from hyperpod_stacks.addons_stack import AddonsStack
from hyperpod_stacks.hyperpod_stack import HyperPodStack
from hyperpod_stacks.node_groups_stack import NodeGroupsStack
from hyperpod_stacks.observability_stack import ObservabilityStack
from hyperpod_stacks.operators_stack import OperatorsStack
from hyperpod_stacks.orchestration import orchestration_of
from hyperpod_stacks.platform_stack import PlatformStack
from hyperpod_stacks.storage_stack import StorageStack
from hyperpod_stacks.table import STACKS, StackKind, stack_names
from hyperpod_stacks.workloads_stack import WorkloadsStack

Made = TypeVar("Made", bound=cdk.Stack)


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
    # Before the first stack, whose provisioner takes seconds to bundle.
    refuse_errors(findings(config), place=config.name)
    orchestration = orchestration_of(config, chart=chart)
    environment = cdk.Environment(region=config.region)
    names = stack_names(config)
    about = {kind: row.about(config) for kind, row in STACKS.items()}
    platform = PlatformStack(
        scope,
        names["platform"],
        config=config,
        orchestration=orchestration,
        scripts=scripts,
        env=environment,
        termination_protection=config.termination_protection,
        description=about["platform"],
    )
    dependents: dict[StackKind, cdk.Stack] = {}

    def add(kind: StackKind, made_by: Callable[..., Made], **further: object) -> Made | None:
        if kind not in names:
            return None
        stack = made_by(
            scope,
            names[kind],
            config=config,
            platform=platform,
            env=environment,
            description=about[kind],
            **further,
        )
        dependents[kind] = stack
        return stack

    # In the order of `cdk destroy --all`: a protected storage stack stops it before the add-ons go.
    storage = add("storage", StorageStack)
    add("addons", AddonsStack)
    add("workloads", WorkloadsStack)
    stored = {} if storage is None else storage.stored
    add("hyperpod", HyperPodStack, stored=stored)
    add("node-groups", NodeGroupsStack)
    add("operators", OperatorsStack)
    add("observability", ObservabilityStack, stored=stored)
    for kind, stack in dependents.items():
        for other in (
            platform,
            *(dependents[each] for each in STACKS[kind].follows if each in dependents),
        ):
            stack.add_stack_dependency(other)
    for each in (platform, *dependents.values()):
        orchestration.add_to_stack(each)
    # `EksCluster` and `HyperPodCluster` show what concerns them alone.
    report(dependents.get("hyperpod") or dependents["node-groups"], cross_section_findings(config))
    # The stacks themselves, which CDK leaves out by its flag explicitStackTags; but CloudFormation
    # hands a stack's tags on to its resources.
    tagged = [each for kind, each in dependents.items() if kind != "node-groups"]
    for key, value in config.tags.items():
        cdk.Tags.of(scope).add(key, value, exclude_resource_types=OF_NODE_GROUPS)
        for stack in (platform, *tagged):
            cdk.Tags.of(stack).add(key, value, include_resource_types=["aws:cdk:stack"])
