"""Where an instance group's nodes are, when it is not where the cluster's are."""

from typing import Annotated

from hyperpod_cdk.config.arns import SecurityGroupId, SubnetId
from hyperpod_cdk.config.lists import ListLimits
from hyperpod_cdk.config.section import Listed, Section


class OverrideVpcConfig(Section):
    """Subnets and security groups of a group's nodes, in place of the cluster's."""

    subnet_ids: Annotated[
        Listed[SubnetId],
        ListLimits(shape_name="sagemaker.Subnets", noun="subnets", may_be_empty=False),
    ]
    """IDs of private subnets of the VPC, 1 to 16."""

    security_group_ids: Annotated[
        Listed[SecurityGroupId],
        ListLimits(shape_name="sagemaker.VpcSecurityGroupIds", noun="security groups"),
    ] = ()
    """IDs of security groups, at most 5; EFA needs one that allows all traffic from and to itself.
    Default: the cluster's."""
