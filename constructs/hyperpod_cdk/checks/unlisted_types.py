"""Accelerated types that the HyperPod dependencies' chart does not know."""

from collections.abc import Iterator

from hyperpod_cdk.checks.daemon_sets import unlisted_daemon_sets
from hyperpod_cdk.checks.finding import Finding, warning
from hyperpod_cdk.checks.inputs import Deployment
from hyperpod_cdk.instance_types import instance_facts


def unlisted_types(deployment: Deployment) -> Iterator[Finding]:
    """Find types whose accelerators no pod is offered, or whose faults nobody sees.

    The chart's device plugins and health-monitoring agent run on the types that it lists.

    https://github.com/aws/sagemaker-hyperpod-cli/tree/main/helm_chart/HyperPodHelmChart
    """
    for group in deployment.groups:
        if group.restricted:
            continue
        for path, instance_type in group.types_with_paths():
            facts = instance_facts(instance_type)
            names = () if facts is None else unlisted_daemon_sets(facts, deployment=deployment)
            if names:
                yield warning(
                    path,
                    instance_type,
                    f"is none of the types on which the chart runs {' and '.join(names)}: pods get "
                    "no accelerators of it without a device plugin of your own; take another",
                )
