"""The security group that exists has the rules that nodes need, and can take those to add."""

from collections.abc import Iterator, Sequence, Set
from dataclasses import dataclass
from ipaddress import IPv4Network

from hyperpod_cdk import Config
from hyperpod_cdk.schema.errors import Finding, KeyPath, error, warning
from hyperpod_cdk.schema.named_resources import named_resources
from hyperpod_cli.inspect.preflight.deployed import resources_of
from hyperpod_cli.inspect.preflight.existing_network import (
    ANYWHERE,
    Record,
    of_subnets,
    vpc_of_nodes,
)
from hyperpod_cli.inspect.preflight.validator import Phase, Problems, Target, validator

_GROUP = ("network", "security_group_id")
_ADDED = ("network", "add_security_group_rules")
_ALL_TRAFFIC, _HTTPS = "-1", 443
_SAYS = {
    "self_ingress": "all traffic in from itself",
    "self_egress": "all traffic out to itself",
    "internet_egress": "all traffic out to 0.0.0.0/0",
}


@validator(
    phase=Phase.NETWORK,
    names=("security group",),
    iam=[
        "cloudformation:DescribeStacks",
        "cloudformation:ListStackResources",
        "ec2:DescribeSecurityGroupRules",
        "ec2:DescribeSecurityGroups",
        "ec2:DescribeVpcs",
    ],
)
def security_group(config: Config, target: Target) -> Problems:
    """Traffic within the group, or outbound traffic, is not allowed.

    What nodes need is looked for, not how it is written: addresses that hold those of the VPC serve
    as well as the group itself, but for EFA, which goes by the group alone. TCP 443 out is enough
    for AWS's APIs and registries, to addresses, a prefix list or the group of VPC endpoints.
    https://docs.aws.amazon.com/AWSEC2/latest/UserGuide/efa-start.html

    Keys: cluster.instance_groups[].override_vpc.security_group_ids,
    network.add_security_group_rules

    [HyperPod](https://docs.aws.amazon.com/sagemaker/latest/dg/sagemaker-hyperpod-prerequisites.html)
    """
    named = [*named_resources(config, "security group")]
    vpc = vpc_of_nodes(config, target) if named else None
    if vpc is None:
        return
    added_blocks = [IPv4Network(cidr) for cidr in of_subnets(config, "cidr").values()]
    blocks = [*vpc.blocks().values(), *added_blocks]
    # `vpc` tells of those that are not there.
    there = {*vpc.members("security group")}
    for path, group in config.cluster.groups_with_paths():
        ids = () if group.override_vpc is None else group.override_vpc.security_group_ids
        if there.issuperset(ids) and ids:
            rules = [rule for group_id in ids for rule in vpc.rules(group_id)]
            reach = _Reach(rules=rules, groups={*ids}, blocks=blocks)
            where = (*path, "override_vpc", "security_group_ids")
            for finding in _missing(reach, where, [*ids], has_efa=group.has_efa_accelerators):
                yield finding, _rules_command(*ids)
    group_id = config.network.security_group_id
    if group_id is None or group_id not in there:
        return
    deployed = resources_of(config, "platform", target.client)
    foreign = [rule for rule in vpc.rules(group_id) if rule["SecurityGroupRuleId"] not in deployed]
    reach = _Reach(rules=foreign, groups={group_id}, blocks=blocks)
    has_efa = any(
        group.has_efa_accelerators
        for group in config.cluster.all_groups
        if group.override_vpc is None or not group.override_vpc.security_group_ids
    )
    added = config.network.add_security_group_rules
    missing = _missing(reach, _GROUP, group_id, has_efa=has_efa, added=added)
    for finding in (*missing, *_unwelcome(config, reach)):
        yield finding, _rules_command(group_id)


@dataclass(frozen=True, kw_only=True, slots=True)
class _Reach:
    """What the rules of some security groups, which nodes have together, let through.

    Attributes:
        rules: As EC2 describes them.
        groups: IDs of the groups.
        blocks: The CIDR blocks of the VPC.
    """

    rules: Sequence[Record]
    groups: Set[str]
    blocks: Sequence[IPv4Network]

    def has(self, name: str) -> bool:
        """Tell whether there is a rule as the deployment would add it."""
        return any(
            rule.get("CidrIpv4") == ANYWHERE
            if name == "internet_egress"
            else _peer(rule) == rule["GroupId"]
            for rule in self._all_traffic(is_egress=name != "self_ingress")
        )

    def within(self, *, is_egress: bool) -> bool:
        """Tell whether all traffic of the VPC's addresses passes, from or to nodes."""
        rules = [*self._all_traffic(is_egress=is_egress)]
        if any(self._is_self(rule) for rule in rules):
            return True
        return all(any(_holds(rule, block) for rule in rules) for block in self.blocks)

    def https_out(self) -> bool:
        """Tell whether TCP 443 passes to anything but the groups themselves."""
        return any(
            rule["IsEgress"]
            and rule.get("CidrIpv6") is None
            and _covers_https(rule)
            and not self._is_self(rule)
            for rule in self.rules
        )

    def _all_traffic(self, *, is_egress: bool) -> Iterator[Record]:
        for rule in self.rules:
            if rule["IsEgress"] is is_egress and rule["IpProtocol"] == _ALL_TRAFFIC:
                yield rule

    def _is_self(self, rule: Record) -> bool:
        return _peer(rule) in self.groups


def _peer(rule: Record) -> str | None:
    group_id: str | None = rule.get("ReferencedGroupInfo", {}).get("GroupId")
    return group_id


def _holds(rule: Record, block: IPv4Network) -> bool:
    cidr = rule.get("CidrIpv4")
    return cidr is not None and block.subnet_of(IPv4Network(cidr))


def _covers_https(rule: Record) -> bool:
    is_tcp = rule["IpProtocol"] == "tcp" and rule["FromPort"] <= _HTTPS <= rule["ToPort"]
    return is_tcp or bool(rule["IpProtocol"] == _ALL_TRAFFIC)


def _missing(
    reach: _Reach,
    path: KeyPath,
    value: object,
    *,
    has_efa: bool,
    added: Sequence[str] = (),
) -> Iterator[Finding]:
    """Find what nodes need and the groups of a key do not let through."""
    is_ours = path == _GROUP
    for name in ("self_ingress", "self_egress"):
        fine = reach.has(name) if has_efa else reach.within(is_egress=name == "self_egress")
        if not fine and name not in added:
            why = ", which EFA needs" if has_efa else ""
            adds = is_ours and not (name == "self_egress" and reach.has("internet_egress"))
            remedy = _to_add(name, reach=reach, adds=adds)
            yield error(path, value, f"has no rule for {_SAYS[name]}{why}; {remedy}")
    if reach.has("internet_egress") or "internet_egress" in added:
        return
    lacks = f"has no rule for {_SAYS['internet_egress']}"
    remedy = _to_add("internet_egress", reach=reach, adds=is_ours)
    if reach.https_out():
        message = (
            f"{lacks}, but for TCP 443 to some: registries and packages elsewhere stay out of reach"
        )
        yield warning(path, value, f"{message}; if that is not meant, {remedy}")
    else:
        yield error(path, value, f"{lacks}, nor for TCP 443 to AWS's APIs; {remedy}")


def _to_add(name: str, *, reach: _Reach, adds: bool) -> str:
    if adds:
        return f"let the deployment add it: network.add_security_group_rules: [{name}]"
    return f"add it: {_command(name, min(reach.groups))}"


def _unwelcome(config: Config, reach: _Reach) -> Iterator[Finding]:
    """Find rules that EC2 refuses, and those that take the one for all egress away.

    CloudFormation removes that one when it adds another, and does not bring it back:
    https://github.com/aws-cloudformation/cfn-language-discussion/issues/157
    """
    group_id = str(config.network.security_group_id)
    for index, name in enumerate(config.network.add_security_group_rules):
        path: KeyPath = (*_ADDED, index)
        if reach.has(name):
            message = f"is there: {group_id} lets {_SAYS[name]}; EC2 refuses a second; leave it out"
            yield error(path, name, message)
        elif name == "self_egress" and reach.has("internet_egress"):
            message = (
                f"would cost {group_id} its rule for {_SAYS['internet_egress']}, which "
                "CloudFormation removes when it adds another egress rule; leave it out here, and "
                f"add it: {_command(name, group_id)}"
            )
            yield error(path, name, message)


def _rules_command(*group_ids: str) -> str:
    values = ",".join(group_ids)
    return f"aws ec2 describe-security-group-rules --filters Name=group-id,Values={values}"


def _command(name: str, group_id: str) -> str:
    direction = "ingress" if name == "self_ingress" else "egress"
    itself = f"UserIdGroupPairs=[{{GroupId={group_id}}}]"
    peer = "IpRanges=[{CidrIp=0.0.0.0/0}]" if name == "internet_egress" else itself
    return (
        f"aws ec2 authorize-security-group-{direction} --group-id {group_id} --ip-permissions "
        f"IpProtocol=-1,{peer}"
    )
