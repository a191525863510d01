"""The VPC: public, EKS and HyperPod subnets, NAT gateways, and the names that it resolves."""

from collections.abc import Sequence

from aws_cdk import CfnResource
from aws_cdk import aws_ec2 as ec2
from aws_cdk import aws_logs as logs
from aws_cdk import aws_route53resolver as route53resolver
from constructs import Construct

from hyperpod_cdk.network.checks import network_findings
from hyperpod_cdk.network.imported import ImportedNetwork, fix_subnets
from hyperpod_cdk.network.section import AWS_DOMAINS, NetworkConfig
from hyperpod_cdk.network.subnets import NodeSubnets, PrivateSubnet, SubnetMaker
from hyperpod_cdk.schema.cidrs import is_inside
from hyperpod_cdk.synthesis.logs import OWNED_BY_AWS, LogGroups
from hyperpod_cdk.synthesis.reasons import (
    NIST,
    acknowledge,
    acknowledge_inline_policies,
)
from hyperpod_cdk.synthesis.refusals import report
from hyperpod_cdk.synthesis.trust import SOURCE_ACCOUNT, limit_trust


def network_of(
    scope: Construct,
    construct_id: str,
    *,
    network: NetworkConfig,
    log_groups: LogGroups = OWNED_BY_AWS,
) -> "Network | ImportedNetwork":
    """Return a new VPC, or the existing one that the section names.

    Args:
        scope: Parent.
        construct_id: Id.
        network: The section.
        log_groups: How the flow log's group of a new VPC is made. Default: as for `Network`.
    """
    if network.vpc_id is not None:
        return ImportedNetwork(scope, construct_id, network=network)
    return Network(scope, construct_id, network=network, log_groups=log_groups)


class Network(Construct):
    """A VPC for an EKS control plane and HyperPod nodes.

    Creates the VPC with a flow log, an internet gateway, public subnets, NAT gateways in them, the
    EKS subnets, the HyperPod subnets, and an S3 gateway endpoint on every private route table. By
    default each private subnet routes through the NAT gateway of its own AZ, so the loss of an AZ
    takes no other AZ's egress with it. `VpcEndpoints` completes a closed network. With
    `allowed_domains`, a DNS Firewall lets the VPC resolve these alone, and AWS's.

    Args:
        network: CIDR blocks, zones and NAT gateways.
        log_groups: How the flow log's group is made. Default: encrypted by AWS, for 30 days.

    Attributes:
        vpc: The VPC.
        default_security_group_id: The group that came with it, which `DefaultSecurityGroup` closes.
        eks_subnets: Subnets for the EKS control plane.
        node_subnets: Subnets for HyperPod nodes, in the order given.
        internet_access: What must exist before anything in a private subnet can reach the internet.
        s3_endpoint: The gateway endpoint of S3.
        endpoint_subnets: Subnets for interface endpoints, which take one in each zone.
    """

    def __init__(
        self,
        scope: Construct,
        construct_id: str,
        *,
        network: NetworkConfig,
        log_groups: LogGroups = OWNED_BY_AWS,
    ) -> None:
        super().__init__(scope, construct_id)
        report(self, network_findings(network))
        fix_subnets(self, network)
        vpc_cidr = network.vpc_cidr
        if vpc_cidr is None:
            raise ValueError(f"{self.node.path}: {network.vpc_id} exists; use network_of(...)")
        self.vpc = ec2.Vpc(
            self,
            "Vpc",
            ip_addresses=ec2.IpAddresses.cidr(vpc_cidr),
            subnet_configuration=[],
            restrict_default_security_group=False,
        )
        self.default_security_group_id: str | None = self.vpc.vpc_default_security_group
        acknowledge(
            self.vpc,
            {
                f"{NIST}VPCDefaultSecurityGroupClosed": (
                    "Nothing uses the default group. The provisioner takes its rules away for "
                    "DefaultSecurityGroup; CDK's switch would add a Lambda function and a role."
                )
            },
        )
        self._add_flow_log(log_groups)
        if network.allowed_domains is not None:
            DnsFirewall(self, "DnsFirewall", vpc=self.vpc, domains=network.allowed_domains)
        nat_gateway_ids = self._nat_gateway_ids(network)
        maker = SubnetMaker(scope=self, network=network, vpc=self.vpc)
        nodes = network.new_hyperpod_cidrs
        secondary = [cidr for cidr in nodes if not is_inside(cidr, outer=vpc_cidr)]
        new = maker.hyperpod(nat_gateway_ids=nat_gateway_ids, secondary=secondary)
        hyperpod = list(new.values())
        eks = maker.eks(nat_gateway_ids=nat_gateway_ids, hyperpod=hyperpod)
        self.eks_subnets = [private.subnet for private in eks]
        self.node_subnets = NodeSubnets(
            subnets=[private.subnet for private in hyperpod], zone_ids=network.hyperpod_zone_ids
        )
        self.internet_access: list[CfnResource] = [
            resource for private in hyperpod for resource in private.internet_access
        ]
        self.endpoint_subnets = _first_in_each_zone(hyperpod)
        self.s3_endpoint = self.vpc.add_gateway_endpoint(
            "S3Endpoint",
            service=ec2.GatewayVpcEndpointAwsService.S3,
            subnets=[ec2.SubnetSelection(subnets=[*self.eks_subnets, *self.node_subnets.subnets])],
        )

    def _add_flow_log(self, log_groups: LogGroups) -> None:
        flow_log = self.vpc.add_flow_log(
            "FlowLog",
            destination=ec2.FlowLogDestination.to_cloud_watch_logs(
                log_groups.add(self, "FlowLogGroup", retention=logs.RetentionDays.ONE_MONTH)
            ),
        )
        # https://docs.aws.amazon.com/vpc/latest/userguide/flow-logs-iam-role.html
        limit_trust(flow_log.iam_role, SOURCE_ACCOUNT)
        log_groups.acknowledge(self)
        acknowledge_inline_policies(flow_log)

    def _nat_gateway_ids(self, network: NetworkConfig) -> list[str]:
        """Add the public subnets, if any, and return their NAT gateways."""
        if not network.public_subnet_cidrs:
            return []
        internet_gateway = ec2.CfnInternetGateway(self, "InternetGateway")
        attachment = ec2.CfnVPCGatewayAttachment(
            self,
            "InternetGatewayAttachment",
            vpc_id=self.vpc.vpc_id,
            internet_gateway_id=internet_gateway.ref,
        )
        maker = SubnetMaker(scope=self, network=network, vpc=self.vpc)
        publics = maker.public(internet_gateway_id=internet_gateway.ref, attachment=attachment)
        made = [each.nat_gateway_id for each in publics if each.nat_gateway_id is not None]
        # By zone: one without a private subnet has none, and nothing looks for it.
        return [each.nat_gateway_id or made[0] for each in publics] if made else []


def _first_in_each_zone(subnets: Sequence[PrivateSubnet]) -> list[ec2.ISubnet]:
    """Return one subnet of each zone: an interface endpoint takes no second one there.

    https://docs.aws.amazon.com/vpc/latest/privatelink/create-interface-endpoint.html
    """
    first: dict[str | int, ec2.ISubnet] = {}
    for private in subnets:
        zone = private.zone
        first.setdefault(zone.index if zone.zone is None else zone.zone, private.subnet)
    return list(first.values())


class DnsFirewall(Construct):
    """Lets a VPC's resolver answer for some domains alone, so that no data leaves in queries.

    These are `AWS_DOMAINS`, and further ones; `*.` stands for all names below one.

    The answer for all other names is NXDOMAIN. When Route 53 Resolver gets no verdict from the
    firewall, it answers SERVFAIL: without a configuration that says otherwise, a VPC fails closed.
    https://docs.aws.amazon.com/Route53/latest/DeveloperGuide/resolver-dns-firewall-vpc-configuration.html
    """

    def __init__(
        self, scope: Construct, construct_id: str, *, vpc: ec2.IVpc, domains: Sequence[str]
    ) -> None:
        super().__init__(scope, construct_id)
        # L1: aws-cdk-lib has no L2 of DNS Firewall.
        allowed = route53resolver.CfnFirewallDomainList(
            self, "Allowed", domains=list(dict.fromkeys((*AWS_DOMAINS, *domains)))
        )
        everything = route53resolver.CfnFirewallDomainList(self, "Everything", domains=["*"])
        rule = route53resolver.CfnFirewallRuleGroup.FirewallRuleProperty
        rules = route53resolver.CfnFirewallRuleGroup(
            self,
            "Rules",
            firewall_rules=[
                rule(
                    action="ALLOW",
                    priority=100,
                    firewall_domain_list_id=allowed.attr_id,
                    # A name of AWS may be an alias of a name in another domain.
                    firewall_domain_redirection_action="TRUST_REDIRECTION_DOMAIN",
                ),
                rule(
                    action="BLOCK",
                    block_response="NXDOMAIN",
                    priority=200,
                    firewall_domain_list_id=everything.attr_id,
                ),
            ],
        )
        route53resolver.CfnFirewallRuleGroupAssociation(
            self,
            "Association",
            firewall_rule_group_id=rules.attr_id,
            # Leaves room for groups of the account before it; the least is 100.
            priority=1000,
            vpc_id=vpc.vpc_id,
        )
