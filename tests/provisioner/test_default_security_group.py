"""A default security group without rules, whatever EC2 says of a rule that is not there."""

from dataclasses import dataclass, field
from typing import Any

import pytest

from hyperpod_shared.errors import ProvisioningError
from provisioner.default_security_group import DefaultSecurityGroup
from tests.conftest import Raises
from tests.support.provisioner.cloudformation import Framework, Time
from tests.support.provisioner.fake_s3 import client_error

GROUP = "sg-0123456789abcdef0"
PROPERTIES = {"GroupId": GROUP}


def rule(**peer: list[dict[str, str]]) -> dict[str, Any]:
    return {"IpProtocol": "-1", **peer}


FROM_ITSELF = rule(UserIdGroupPairs=[{"GroupId": GROUP}])
TO_ANYWHERE = rule(IpRanges=[{"CidrIp": "0.0.0.0/0"}])
OF_OTHERS = rule(IpRanges=[{"CidrIp": "10.0.0.0/8"}])


@dataclass
class Ec2:
    """A group; `code` is what EC2 answers where a rule is not there, "" for no error."""

    ingress: list[dict[str, Any]] = field(default_factory=lambda: [FROM_ITSELF, OF_OTHERS])
    egress: list[dict[str, Any]] = field(default_factory=lambda: [TO_ANYWHERE])
    code: str = "InvalidPermission.NotFound"

    def revoke_security_group_ingress(self, **request: Any) -> dict[str, Any]:
        return self._revoke(self.ingress, **request)

    def revoke_security_group_egress(self, **request: Any) -> dict[str, Any]:
        return self._revoke(self.egress, **request)

    def _revoke(
        self, rules: list[dict[str, Any]], *, GroupId: str, IpPermissions: list[dict[str, Any]]
    ) -> dict[str, Any]:
        assert GroupId == GROUP
        for wanted in IpPermissions:
            if wanted in rules:
                rules.remove(wanted)
            elif self.code:
                raise client_error(self.code, "RevokeSecurityGroupIngress", "not there")
        return {"Return": True}


def framework(ec2: Ec2) -> Framework:
    return Framework(
        resource=DefaultSecurityGroup(ec2=ec2),
        resource_type="Custom::DefaultSecurityGroup",
        time=Time(),
    )


@pytest.mark.parametrize("code", ["InvalidPermission.NotFound", ""])
@pytest.mark.parametrize("ingress", [[FROM_ITSELF, OF_OTHERS], [OF_OTHERS]])
def test_the_default_rules_are_taken_away_and_others_stay(
    code: str, ingress: list[dict[str, Any]]
) -> None:
    ec2 = Ec2(ingress=list(ingress), code=code)
    stack = framework(ec2)

    stack.create(PROPERTIES)
    assert (ec2.ingress, ec2.egress) == ([OF_OTHERS], [])

    stack.create(PROPERTIES)
    assert (ec2.ingress, ec2.egress) == ([OF_OTHERS], [])


def test_another_refusal_fails(raises: Raises) -> None:
    ec2 = Ec2(ingress=[], code="InvalidGroup.NotFound")

    with raises(ProvisioningError):
        framework(ec2).create(PROPERTIES)
