"""What lives as long as the nodes: the operators and the collectors that run on them."""

from typing import Any

import aws_cdk as cdk
from constructs import Construct

from hyperpod_cdk.config.config import Config
from hyperpod_cdk.governance.governance import TaskGovernance
from hyperpod_cdk.observability.prometheus import HyperPodMetrics, endpoint_of, workspace_of
from hyperpod_cdk.operators.operators import Operators
from hyperpod_cdk.panels.definition import watched
from hyperpod_cdk.panels.workspace import PrometheusRules
from hyperpod_stacks.platform_stack import PlatformStack, add_outputs


class OperatorsStack(cdk.Stack):
    """The add-ons that need a node first; made after the nodes, and deleted before them."""

    def __init__(
        self,
        scope: Construct,
        construct_id: str,
        *,
        config: Config,
        platform: PlatformStack,
        **kwargs: Any,
    ) -> None:
        super().__init__(scope, construct_id, stack_name=construct_id, **kwargs)
        if config.operators.addons:
            Operators(
                self,
                "Operators",
                cluster=platform.eks_cluster,
                control_plane=config.eks,
                operators=config.operators,
            )
        if config.governance is not None:
            TaskGovernance(
                self,
                "TaskGovernance",
                cluster=platform.eks_cluster,
                control_plane=config.eks,
                hyperpod_cluster_name=platform.cluster.name,
                provisioner=platform.provisioner,
                governance=config.governance,
            )
        prometheus = config.observability.prometheus
        if prometheus is not None:
            # Beside what uses it: an export in use would keep it from being switched off.
            workspace = workspace_of(self, "Prometheus", prometheus=prometheus, alias=config.name)
            HyperPodMetrics(
                self,
                "Metrics",
                cluster=platform.eks_cluster,
                control_plane=config.eks,
                prometheus=prometheus,
                workspace=workspace,
            )
            PrometheusRules(
                self,
                "Rules",
                watched=watched(config),
                workspace_arn=workspace.workspace_arn,
            )
            outputs = {
                "PrometheusWorkspaceArn": workspace.workspace_arn,
                "PrometheusEndpoint": endpoint_of(self, workspace),
            }
            add_outputs(self, outputs)
