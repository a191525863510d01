"""The variables of the workshop, beside what its create_config.sh writes."""

import shlex
from collections.abc import Callable, Mapping
from typing import Any

import pytest

from hyperpod_cdk import Config
from hyperpod_cli.commands.operate.env import env
from hyperpod_cli.operate.workshop import exports, variables
from hyperpod_cli.terminal.errors import OpsError

Configure = Callable[[Mapping[str, Any]], Config]

OUTPUTS = {
    "EKSClusterArn": "arn:aws:eks:us-west-2:111122223333:cluster/ml-eks",
    "EKSClusterName": "ml-eks",
    "S3BucketName": "sagemaker-ml",
    "SageMakerIAMRoleArn": "arn:aws:iam::111122223333:role/Nodes",
    "VpcId": "vpc-1",
    "PrivateSubnetId": "subnet-1",
    "OutputPrivateSubnetIds": "subnet-1,subnet-2",
    "SecurityGroupId": "sg-1",
}
# Its listing in the workshop: https://awslabs.github.io/ai-on-sagemaker-hyperpod
LISTED = """\
export AWS_REGION=us-west-2
export EKS_CLUSTER_ARN=arn:aws:eks:us-west-2:111122223333:cluster/ml-eks
export EKS_CLUSTER_NAME=ml-eks
export S3_BUCKET_NAME=sagemaker-ml
export EXECUTION_ROLE=arn:aws:iam::111122223333:role/Nodes
export VPC_ID=vpc-1
export PRIVATE_SUBNET_ID=subnet-1
export SECURITY_GROUP_ID=sg-1
export ACCEL_INSTANCE_TYPE=ml.g5.12xlarge
export ACCEL_INSTANCE_COUNT=1
export ACCEL_VOLUME_SIZE=500
export GEN_INSTANCE_TYPE=ml.m5.2xlarge
export GEN_INSTANCE_COUNT=1
export GEN_VOLUME_SIZE=500
export NODE_RECOVERY=Automatic
""".splitlines()


def values(config: Config, shell: Mapping[str, str] | None = None) -> dict[str, str]:
    return variables(config, outputs=OUTPUTS, region="us-west-2", shell=shell or {})


def test_the_default_configuration_has_the_defaults_of_the_workshop(
    default_config: Config,
) -> None:
    assert list(exports(values(default_config))) == LISTED


def test_a_configuration_without_such_groups_has_them_too(configure: Configure) -> None:
    group = {"name": "system", "instance_type": "ml.m5.2xlarge", "instance_count": 1}
    found = values(configure({"cluster": {"instance_groups": [group]}}))

    assert list(exports(found)) == LISTED


def test_groups_are_those_of_the_configuration(configure: Configure) -> None:
    groups = [
        {"name": "a", "instance_type": "ml.c5.large", "instance_count": 3, "volume_size_gib": 100},
        {"name": "b", "instance_type": "ml.p5.48xlarge", "instance_count": 4},
        {"name": "c", "instance_type": "ml.g5.12xlarge", "instance_count": 5},
    ]
    found = values(configure({"cluster": {"node_recovery": "None", "instance_groups": groups}}))

    assert (found["ACCEL_INSTANCE_TYPE"], found["ACCEL_INSTANCE_COUNT"]) == ("ml.p5.48xlarge", "4")
    assert (found["GEN_INSTANCE_TYPE"], found["GEN_VOLUME_SIZE"]) == ("ml.c5.large", "100")
    assert found["NODE_RECOVERY"] == "None"


@pytest.mark.parametrize(
    "name", [line.removeprefix("export ").partition("=")[0] for line in LISTED]
)
def test_a_value_in_the_shell_wins(default_config: Config, name: str) -> None:
    kept = values(default_config)
    found = values(default_config, {name: "my own", "OTHER": "x"})

    assert found == {**kept, name: "my own"}
    assert f"export {name}={shlex.quote('my own')}" in exports(found)
    assert list(found) == list(kept)
    # An empty one counts as unset, as in the script.
    assert values(default_config, {name: ""}) == kept


def test_without_a_stack_it_says_so(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    def nothing(*_: object) -> dict[str, str]:
        raise OpsError("stack: ml-platform is not deployed in us-west-2")

    monkeypatch.setattr("hyperpod_cli.aws.stacks.outputs_of", nothing)
    with pytest.raises(OpsError, match="ml-platform is not deployed"):
        env()
    # Whoever has all that the stack would tell needs none.
    for line in LISTED:
        name, _, value = line.removeprefix("export ").partition("=")
        monkeypatch.setenv(name, value)
    env()
    assert capsys.readouterr().out.splitlines() == LISTED
