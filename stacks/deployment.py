"""The stacks of one deployment, and how they depend on each other."""

from pathlib import Path

import aws_cdk as cdk

from hyperpod_cdk import Config
from hyperpod_cdk.checks import cross_section_findings, findings
from hyperpod_cdk.helm.chart.chart import HyperPodChart
from hyperpod_cdk.helm.chart.placeholder_rule import PlaceholderRule
from hyperpod_cdk.helm.chart.rules import refuse_unfit
from hyperpod_cdk.schema.errors import refuse_errors
from hyperpod_cdk.synthesis.findings import report
from stacks.addons_stack import AddonsStack
from stacks.hyperpod_stack import HyperPodStack
from stacks.names import stack_name
from stacks.platform_stack import PlatformStack
from stacks.storage_stack import StorageStack


def add_stacks(
    app: cdk.App, *, config: Config, chart: HyperPodChart, scripts: Path | None = None
) -> None:
    """Add the platform, storage, add-ons and HyperPod stacks to `app`.

    All others depend on the platform alone, so they deploy side by side.

    Args:
        app: The app.
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
        app,
        stack_name(config, "platform"),
        config=config,
        scripts=scripts,
        env=environment,
        description="HyperPod on EKS: network, control plane, lifecycle bucket, roles, provisioner",
    )
    # In the order of `cdk destroy --all`: a protected storage stack stops it before the add-ons go.
    dependents: list[cdk.Stack] = []
    if config.storage is not None:
        dependents.append(
            StorageStack(
                app,
                stack_name(config, "storage"),
                storage=config.storage,
                platform=platform,
                env=environment,
                description="HyperPod on EKS: FSx for Lustre and its claim",
            )
        )
    dependents.append(
        AddonsStack(
            app,
            stack_name(config, "addons"),
            config=config,
            platform=platform,
            env=environment,
            description="HyperPod on EKS: EKS add-ons that need nodes",
        )
    )
    hyperpod = HyperPodStack(
        app,
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
        cdk.Tags.of(app).add(key, value)
