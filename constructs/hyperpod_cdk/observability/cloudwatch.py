"""Metrics and logs of the cluster in CloudWatch: Container Insights."""

from aws_cdk import RemovalPolicy
from aws_cdk import aws_eks_v2 as eks
from aws_cdk import aws_logs as logs
from constructs import Construct

from hyperpod_cdk.eks.addons import add_addons
from hyperpod_cdk.eks.pod_identity import PodRole
from hyperpod_cdk.eks.section import EksConfig
from hyperpod_cdk.observability.section import (
    CLOUDWATCH_ADDON,
    CLOUDWATCH_NAMESPACE,
    CloudWatchConfig,
)
from hyperpod_cdk.synthesis.logs import OWNED_BY_AWS, LogGroups
from hyperpod_cdk.synthesis.reasons import attach_managed_policy

# Fluent Bit, which sends the logs, has the account of the agent too.
# https://docs.aws.amazon.com/AmazonCloudWatch/latest/monitoring/install-CloudWatch-Observability-EKS-addon.html
_SERVICE_ACCOUNT = "cloudwatch-agent"
_MANAGED_POLICY = "CloudWatchAgentServerPolicy"
# The metrics come as logs, too: those of performance.
# https://docs.aws.amazon.com/AmazonCloudWatch/latest/monitoring/Container-Insights-setup-logs-FluentBit.html
_METRICS, _OF_CONTAINERS = "performance", ("application", "dataplane", "host")


def log_group_prefix(eks_cluster_name: str) -> str:
    """Return what the names of the log groups of Container Insights begin with."""
    return f"/aws/containerinsights/{eks_cluster_name}/"


class ContainerInsights(Construct):
    """The EKS add-on amazon-cloudwatch-observability, its role, and the log groups that it fills.

    Until there are nodes for its pods, EKS says CREATING, and DEGRADED from then on, which
    CloudFormation takes as created.

    Args:
        cluster: The EKS cluster; with the add-on eks-pod-identity-agent.
        cluster_name: Its name, not a token, for the key's policy.
        control_plane: The section that describes it, for the Kubernetes version.
        cloudwatch: What is collected.
        log_groups: How log groups are made. Default: encrypted with a key of AWS's, and kept for a
            month.
    """

    def __init__(
        self,
        scope: Construct,
        construct_id: str,
        *,
        cluster: eks.ICluster,
        cluster_name: str,
        control_plane: EksConfig,
        cloudwatch: CloudWatchConfig,
        log_groups: LogGroups = OWNED_BY_AWS,
    ) -> None:
        super().__init__(scope, construct_id)
        role = PodRole(
            self,
            "Agent",
            cluster=cluster,
            namespace=CLOUDWATCH_NAMESPACE,
            service_account=_SERVICE_ACCOUNT,
            description="Sends metrics and logs of the nodes to CloudWatch",
        )
        attach_managed_policy(role.role, _MANAGED_POLICY, whose="that of the agent")
        made = add_addons(
            self,
            [CLOUDWATCH_ADDON],
            cluster=cluster,
            kubernetes_version=control_plane.version,
            configuration={CLOUDWATCH_ADDON: cloudwatch.to_request()},
        )
        addon = made[CLOUDWATCH_ADDON]
        addon.node.add_dependency(role)
        for name in (*(_OF_CONTAINERS if cloudwatch.container_logs else ()), _METRICS):
            # The agent writes to the groups of these names, and would make them with logs that
            # never expire.
            group = log_groups.add(
                self,
                name.capitalize(),
                name=f"{log_group_prefix(cluster_name)}{name}",
                retention=logs.RetentionDays.ONE_MONTH,
                # A group that stayed would keep a deployment of the same name from being made
                # again.
                removal_policy=RemovalPolicy.DESTROY,
            )
            addon.node.add_dependency(group)
        log_groups.acknowledge(self)
