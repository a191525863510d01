"""EKS node groups, which live and die by themselves."""

from typing import Any

import aws_cdk as cdk
from constructs import Construct

from hyperpod_cdk.config.config import Config
from hyperpod_cdk.node_groups.node_groups import NodeGroups
from hyperpod_stacks.platform_stack import PlatformStack, add_outputs


class NodeGroupsStack(cdk.Stack):
    """The node groups of EC2 instances, with their role and launch templates."""

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
        made = NodeGroups(
            self,
            "NodeGroups",
            cluster=platform.eks_cluster,
            groups=config.node_groups,
            vpc=platform.network.vpc,
            subnets=platform.network.node_subnets,
            security_group=platform.security_group,
            volume_key=platform.keys.node_volumes,
        )
        add_outputs(self, {"NodeRoleArn": made.role.role_arn})
