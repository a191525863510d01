"""The HyperPod dependencies as a Helm release."""

from collections.abc import Collection
from pathlib import Path

from aws_cdk import CfnParameter, CfnRule, CfnRuleAssertion, Duration, Fn, Stack
from aws_cdk import aws_eks_v2 as eks
from constructs import Construct

from hyperpod_cdk.helm.chart import HyperPodChart, read_hyperpod_chart
from hyperpod_cdk.helm.chart_rules import TO_PACKAGE, placeholder_warning, values_for_chart
from hyperpod_cdk.helm.release import HelmRelease
from hyperpod_cdk.helm.section import HelmConfig
from hyperpod_cdk.provisioner.provisioner import Provisioner
from hyperpod_cdk.synthesis.refusals import report


class PlaceholderRule(Construct):
    """A rule with which CloudFormation refuses the template before it touches anything.

    It compares a parameter with another value, as CloudFormation documents rules for parameters.
    """

    def __init__(self, scope: Construct, construct_id: str) -> None:
        super().__init__(scope, construct_id)
        chart = CfnParameter(
            self,
            "Resource",
            default="not packaged",
            description="The chart of the HyperPod dependencies. Pass no value.",
        )
        CfnRule(
            self,
            "Packaged",
            assertions=[
                CfnRuleAssertion(
                    assert_=Fn.condition_equals(chart.value_as_string, "packaged"),
                    assert_description=(
                        f"helm.chart: the official chart is not packaged, so nothing is deployed: "
                        f"{TO_PACKAGE}"
                    ),
                )
            ],
        )


class HyperPodDependencies(HelmRelease):
    """The Helm release of what HyperPod needs in the Kubernetes cluster.

    Args:
        cluster: The EKS cluster.
        provisioner: Runs helm; needs `ProvisionerAccess` to the cluster.
        chart: The official chart as packaged by `hyperpod-cdk charts`, or another one; its path, or
                what             was read of it already. A placeholder is warned of.
        helm: Release, namespace, components, values, and what deleting the release may take along.
        instance_types: HyperPod instance types of the cluster, such as `ml.p5.48xlarge`; they say
            which device plugins are installed by default.

    Raises:
        HyperPodChartError: It is no chart, has no image for the region, lacks a component, or does
            not know a value.
    """

    def __init__(
        self,
        scope: Construct,
        construct_id: str,
        *,
        cluster: eks.ICluster,
        provisioner: Provisioner,
        chart: Path | HyperPodChart,
        helm: HelmConfig,
        instance_types: Collection[str],
    ) -> None:
        read = read_hyperpod_chart(chart) if isinstance(chart, Path) else chart
        super().__init__(
            scope,
            construct_id,
            cluster=cluster,
            provisioner=provisioner,
            chart=read.path,
            release=helm.release,
            namespace=helm.namespace,
            values=values_for_chart(
                read, helm=helm, region=Stack.of(scope).region, instance_types=instance_types
            ),
            adopt_namespaces=helm.adopt_namespaces,
            delete_user_objects=helm.delete_user_objects,
            wait_for_ready=Duration.minutes(helm.wait_for_ready_minutes),
        )
        if read.is_placeholder:
            report(self, [placeholder_warning()])
