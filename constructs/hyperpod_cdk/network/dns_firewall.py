"""The DNS Firewall of a network that resolves the names of AWS, and of few others."""

from collections.abc import Sequence

from aws_cdk import aws_ec2 as ec2
from aws_cdk import aws_route53resolver as route53resolver
from constructs import Construct

from hyperpod_cdk.network.section import AWS_DOMAINS


class DnsFirewall(Construct):
    """Lets a VPC's resolver answer for some domains alone, so that no data leaves in queries.

    The answer for all other names is NXDOMAIN. When Route 53 Resolver gets no verdict from the
    firewall, it answers SERVFAIL: without a configuration that says otherwise, a VPC fails closed.
    https://docs.aws.amazon.com/Route53/latest/DeveloperGuide/resolver-dns-firewall-vpc-configuration.html

    Args:
        vpc: The VPC.
        domains: Domains that resolve besides `AWS_DOMAINS`; `*.` stands for all names below one.
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
