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

from hyperpod_shared.aws_errors import AWS_ERRORS, AwsClient, code
from provisioner.framework.properties import Properties, parsed, text
from provisioner.framework.resource import DONE, Progress, WaitingResource
from provisioner.framework.turn import Turn


@dataclass(frozen=True, slots=True, kw_only=True)
class DefaultSecurityGroupProperties(Properties):
    """The properties that the CDK app sets."""

    PHYSICAL_ID = "{0.group_id}/default-rules"

    group_id: str = parsed(text)


@dataclass(frozen=True, kw_only=True)
class DefaultSecurityGroup(WaitingResource[DefaultSecurityGroupProperties]):
    """Handles `Custom::DefaultSecurityGroup`."""

    properties_type = DefaultSecurityGroupProperties
    ec2: AwsClient

    def progress(self, properties: DefaultSecurityGroupProperties, turn: Turn) -> Progress:
        """Take the default rules away."""
        group_id = properties.group_id
        to_itself = {"IpProtocol": "-1", "UserIdGroupPairs": [{"GroupId": group_id}]}
        everywhere = {"IpProtocol": "-1", "IpRanges": [{"CidrIp": "0.0.0.0/0"}]}
        for revoke, rule in (
            (self.ec2.revoke_security_group_ingress, to_itself),
            (self.ec2.revoke_security_group_egress, everywhere),
        ):
            try:
                turn.change(partial(revoke, GroupId=group_id, IpPermissions=[rule]))
            except AWS_ERRORS as error:
                # In a default VPC, RevokeSecurityGroupIngress answers without an error.
                if code(error) != "InvalidPermission.NotFound":
                    raise
        return DONE
