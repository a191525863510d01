"""A cluster's authentication mode goes one way, step by step."""

import json
from typing import Any

import pytest
from botocore.exceptions import ClientError

from emulator.aws.local_aws import LocalAws
from tests.support.local_aws import client

BOTH = "API_AND_CONFIG_MAP"


def make(aws: LocalAws, name: str, *, mode: str | None = None) -> Any:  # noqa: ANN401 - a client
    """Make a cluster in the default VPC; return the client."""
    subnets = client(aws, "ec2").describe_subnets()["Subnets"]
    homes = {subnet["AvailabilityZone"]: subnet["SubnetId"] for subnet in subnets}
    eks, iam = client(aws, "eks"), client(aws, "iam")
    trust = json.dumps({"Version": "2012-10-17", "Statement": []})
    role = iam.create_role(RoleName=name, AssumeRolePolicyDocument=trust)["Role"]
    eks.create_cluster(
        name=name,
        roleArn=role["Arn"],
        resourcesVpcConfig={"subnetIds": [*homes.values()][:2]},
        **({} if mode is None else {"accessConfig": {"authenticationMode": mode}}),
    )
    return eks


def mode_of(eks: Any, name: str) -> tuple[str, str]:  # noqa: ANN401 - a client
    found = eks.describe_cluster(name=name)["cluster"]
    return found["status"], found["accessConfig"]["authenticationMode"]


def change(eks: Any, name: str, mode: str) -> Any:  # noqa: ANN401 - a client
    return eks.update_cluster_config(name=name, accessConfig={"authenticationMode": mode})


def test_access_entries_come_with_the_mode(aws: LocalAws) -> None:
    name = "by-default"
    eks = make(aws, name)
    user = {"clusterName": name, "principalArn": "arn:aws:iam::000000000000:user/ada"}
    assert mode_of(eks, name) == ("ACTIVE", "CONFIG_MAP")
    with pytest.raises(ClientError, match="authentication mode must be set to one of"):
        eks.create_access_entry(**user)

    assert change(eks, name, BOTH)["update"]["type"] == "AccessConfigUpdate"
    with pytest.raises(ClientError, match="ResourceInUseException"):
        change(eks, name, BOTH)
    assert mode_of(eks, name) == ("UPDATING", "CONFIG_MAP")
    assert mode_of(eks, name) == ("ACTIVE", BOTH)
    eks.create_access_entry(**user)


@pytest.mark.parametrize(
    ("former", "wanted"),
    [
        ("CONFIG_MAP", "API"),
        (BOTH, "CONFIG_MAP"),
        ("API", "CONFIG_MAP"),
        ("API", BOTH),
        (BOTH, BOTH),
    ],
)
def test_no_step_is_left_out_or_taken_back(aws: LocalAws, former: str, wanted: str) -> None:
    name = f"{former}-to-{wanted}".replace("_", "-")
    eks = make(aws, name, mode=former)
    with pytest.raises(
        ClientError, match=f"Unsupported authentication mode update from {former} to {wanted}"
    ):
        change(eks, name, wanted)
