"""The one security group of control plane, nodes and file system."""

from aws_cdk import aws_ec2 as ec2
from constructs import Construct

from hyperpod_cdk.synthesis.acknowledge import NIST, acknowledge


class ClusterSecurityGroup(Construct):
    """A security group that carries EFA, Lustre and Kubernetes traffic among its members.

    Rules: all traffic from itself and to itself (EFA authorises by group reference only, in both
    directions), TCP 988 and 1018-1023 from itself (Lustre), all traffic to 0.0.0.0/0.
    https://docs.aws.amazon.com/AWSEC2/latest/UserGuide/efa-start.html
    https://docs.aws.amazon.com/fsx/latest/LustreGuide/limit-access-security-groups.html

    Args:
        vpc: The VPC.

    Attributes:
        security_group: The security group.
    """

    def __init__(self, scope: Construct, construct_id: str, *, vpc: ec2.IVpc) -> None:
        super().__init__(scope, construct_id)
        group = ec2.SecurityGroup(
            self,
            "SecurityGroup",
            vpc=vpc,
            description="EKS control plane, HyperPod nodes and FSx for Lustre",
            # False, because True drops the self egress rule that EFA needs.
            allow_all_outbound=False,
        )
        group.add_ingress_rule(group, ec2.Port.all_traffic(), "EFA, pods and control plane")
        group.add_egress_rule(group, ec2.Port.all_traffic(), "EFA, pods and control plane")
        group.add_ingress_rule(group, ec2.Port.tcp(988), "Lustre")
        group.add_ingress_rule(group, ec2.Port.tcp_range(1018, 1023), "Lustre")
        # L1: the L2 refuses an all-traffic CIDR rule while allow_all_outbound is False.
        ec2.CfnSecurityGroupEgress(
            self,
            "InternetEgress",
            group_id=group.security_group_id,
            ip_protocol="-1",
            cidr_ip="0.0.0.0/0",
            description="Images and AWS APIs",
        )
        acknowledge(
            group,
            {
                f"{NIST}EC2RestrictedCommonPorts": (
                    "EFA needs all traffic among the members of the group; it lets nobody else in."
                )
            },
        )
        self.security_group: ec2.ISecurityGroup = group
