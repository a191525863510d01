"""`Custom::DefaultSecurityGroup`: a VPC's default group without the rules that EC2 gives it.

| request        | on_event | is_complete                                             |
|----------------|----------|---------------------------------------------------------|
| Create, Update | nothing  | takes the two rules away that are there                 |
| Delete         | nothing  | at once: the group goes with its VPC                    |

Rules that others added stay. Requests may overlap: a rule that is gone is what they ask for.
https://docs.aws.amazon.com/vpc/latest/userguide/default-security-group.html
"""

from dataclasses import dataclass
from functools import partial

from hyperpod_shared.aws_errors import AWS_ERRORS, code
from provisioner.aws.api import Ec2Api
from provisioner.framework.properties import Properties, parsed, text
from provisioner.framework.resource import DONE, Progress, WaitingResource
from provisioner.framework.turn import Turn


@dataclass(frozen=True, slots=True, kw_only=True)
class DefaultSecurityGroupProperties(Properties):
    """The properties that the CDK app sets.

    Attributes:
        group_id: The group.
    """

    group_id: str = parsed(text)

    @property
    def physical_id(self) -> str:
        """The resource's id."""
        return f"{self.group_id}/default-rules"


class DefaultSecurityGroup(WaitingResource[DefaultSecurityGroupProperties]):
    """Handles `Custom::DefaultSecurityGroup`.

    Args:
        ec2: Takes rules away.
    """

    properties_type = DefaultSecurityGroupProperties

    def __init__(self, *, ec2: Ec2Api) -> None:
        self._ec2 = ec2

    def progress(self, properties: DefaultSecurityGroupProperties, turn: Turn) -> Progress:
        """Take the default rules away."""
        group_id = properties.group_id
        to_itself = {"IpProtocol": "-1", "UserIdGroupPairs": [{"GroupId": group_id}]}
        everywhere = {"IpProtocol": "-1", "IpRanges": [{"CidrIp": "0.0.0.0/0"}]}
        for revoke, rule in (
            (self._ec2.revoke_security_group_ingress, to_itself),
            (self._ec2.revoke_security_group_egress, everywhere),
        ):
            try:
                turn.change(partial(revoke, GroupId=group_id, IpPermissions=[rule]))
            except AWS_ERRORS as error:
                # In a default VPC, RevokeSecurityGroupIngress answers without an error.
                if code(error) != "InvalidPermission.NotFound":
                    raise
        return DONE
