"""The rules by which nodes reach each other."""

from collections.abc import Mapping
from typing import Any

from hyperpod_cli.inspect.verification.check import Checks, LiveDeployment, Phase, checked, subject

_ALL = "-1"
_DIRECTIONS = {"from": "IpPermissions", "to": "IpPermissionsEgress"}


@subject(phase=Phase.NETWORK, iam=["ec2:DescribeSecurityGroups"])
def security_groups(deployment: LiveDeployment) -> Checks:
    """The security groups of nodes allow all traffic within themselves; of existing ones, for EFA.

    EFA authorizes by group alone, in both directions.
    https://docs.aws.amazon.com/AWSEC2/latest/UserGuide/efa-start.html
    """
    group_of_nodes = deployment.outputs_of("platform")["SecurityGroupId"]
    wanted = {group_of_nodes} if deployment.config.network.security_group_id is None else set()
    for group in deployment.config.cluster.all_groups:
        if group.has_efa_accelerators:
            override = group.override_vpc
            wanted |= {*(override.security_group_ids if override else ())} or {group_of_nodes}
    if not wanted:
        return
    described = deployment.client("ec2").describe_security_groups(GroupIds=sorted(wanted))
    for group in described["SecurityGroups"]:
        missing = [
            f"all traffic {direction} itself"
            for direction, key in _DIRECTIONS.items()
            if not any(_names_itself(rule, group["GroupId"]) for rule in group[key])
        ]
        yield checked(
            f"aws ec2 describe-security-groups --group-ids {group['GroupId']}: "
            "all traffic from and to itself",
            problem=missing,
            words="lacks {}",
            advice="EFA not working, and training fails: add a rule of protocol -1 in that "
            "direction whose source or destination is the group itself; a rule with a CIDR block "
            "does not do",
        )


def _names_itself(rule: Mapping[str, Any], group_id: str) -> bool:
    pairs = rule.get("UserIdGroupPairs", ())
    return rule["IpProtocol"] == _ALL and any(pair.get("GroupId") == group_id for pair in pairs)
