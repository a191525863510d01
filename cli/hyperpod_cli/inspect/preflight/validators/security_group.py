"""The security group that exists has the rules that nodes need, and can take those to add."""

from collections.abc import Iterator, Mapping

from hyperpod_cdk import Config
from hyperpod_cdk.network.section import SECURITY_GROUP_RULES
from hyperpod_cdk.schema.errors import Finding, KeyPath, error
from hyperpod_cli.inspect.preflight.deployed import resources_of
from hyperpod_cli.inspect.preflight.existing_network import ANYWHERE, Record, existing_vpc
from hyperpod_cli.inspect.preflight.validator import Phase, Problems, Target, validator

_GROUP = ("network", "security_group_id")
_ADDED = ("network", "add_security_group_rules")
_ALL_TRAFFIC = "-1"
_SAYS = {
    "self_ingress": "all traffic in from itself",
    "self_egress": "all traffic out to itself",
    "internet_egress": "all traffic out to 0.0.0.0/0",
}


@validator(
    phase=Phase.NETWORK,
    iam=[
        "cloudformation:ListStackResources",
        "ec2:DescribeSecurityGroupRules",
        "ec2:DescribeSecurityGroups",
        "ec2:DescribeVpcs",
    ],
)
def security_group(config: Config, target: Target) -> Problems:
    """Traffic within the group, or outbound traffic, is not allowed.

    https://docs.aws.amazon.com/AWSEC2/latest/UserGuide/efa-start.html

    Keys: network.add_security_group_rules, network.security_group_id

    [HyperPod](https://docs.aws.amazon.com/sagemaker/latest/dg/sagemaker-hyperpod-prerequisites.html)
    """
    vpc, group_id = existing_vpc(config, target), config.network.security_group_id
    if vpc is None or group_id is None:
        return
    if group_id not in vpc.security_group_ids():
        message = f"is not a security group of {vpc.id}; name one of it, or leave the key out"
        command = f"aws ec2 describe-security-groups --group-ids {group_id}"
        yield error(_GROUP, group_id, message), command
        return
    deployed = resources_of(config, "platform", target.client)
    foreign = [rule for rule in vpc.rules(group_id) if rule["SecurityGroupRuleId"] not in deployed]
    there = {name: _has(name, foreign, group_id) for name in SECURITY_GROUP_RULES}
    command = f"aws ec2 describe-security-group-rules --filters Name=group-id,Values={group_id}"
    for finding in (*_missing(config, there), *_unwelcome(config, there)):
        yield finding, command


def _missing(config: Config, there: Mapping[str, bool]) -> Iterator[Finding]:
    group_id, added = str(config.network.security_group_id), config.network.add_security_group_rules
    for name in SECURITY_GROUP_RULES:
        if not there[name] and name not in added:
            message = f"has no rule for {_SAYS[name]}; " + (
                f"add it: {_command(name, group_id)}"
                if name == "self_egress" and there["internet_egress"]
                else f"let the deployment add it: network.add_security_group_rules: [{name}]"
            )
            yield error(_GROUP, group_id, message)


def _unwelcome(config: Config, there: Mapping[str, bool]) -> Iterator[Finding]:
    """Find rules that EC2 refuses, and those that take the one for all egress away.

    CloudFormation removes that one when it adds another, and does not bring it back:
    https://github.com/aws-cloudformation/cfn-language-discussion/issues/157
    """
    group_id = str(config.network.security_group_id)
    for index, name in enumerate(config.network.add_security_group_rules):
        path: KeyPath = (*_ADDED, index)
        if there[name]:
            message = f"is there: {group_id} lets {_SAYS[name]}; EC2 refuses a second; leave it out"
            yield error(path, name, message)
        elif name == "self_egress" and there["internet_egress"]:
            message = (
                f"would cost {group_id} its rule for {_SAYS['internet_egress']}, which "
                "CloudFormation removes when it adds another egress rule; leave it out here, and "
                f"add it: {_command(name, group_id)}"
            )
            yield error(path, name, message)


def _has(name: str, rules: list[Record], group_id: str) -> bool:
    return any(
        rule["IsEgress"] is (name != "self_ingress")
        and rule["IpProtocol"] == _ALL_TRAFFIC
        and (
            rule.get("CidrIpv4") == ANYWHERE
            if name == "internet_egress"
            else rule.get("ReferencedGroupInfo", {}).get("GroupId") == group_id
        )
        for rule in rules
    )


def _command(name: str, group_id: str) -> str:
    direction = "ingress" if name == "self_ingress" else "egress"
    return (
        f"aws ec2 authorize-security-group-{direction} --group-id {group_id} --ip-permissions "
        f"IpProtocol=-1,UserIdGroupPairs=[{{GroupId={group_id}}}]"
    )
