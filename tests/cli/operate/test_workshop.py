"""What the HyperPod workshop takes: variables, and the CreateCluster request."""

import json
import shlex
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import pytest
from botocore.session import Session
from botocore.validate import ParamValidator

from hyperpod_cdk import Config, load_config
from hyperpod_cli.commands.operate.workshop import env
from hyperpod_cli.operate.workshop import cluster_config, exports, variables
from hyperpod_cli.terminal.configuration import DEFAULT_CONFIG
from hyperpod_cli.terminal.errors import OpsError
from hyperpod_emulator.hyperpod.service_model import violations_of
from tests.conftest import Assemble, Configure, Raises
from tests.support.configs import EVERY_FIELD, KEY, SHIPPED
from tests.support.template_view import TemplateView

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
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str], raises: Raises
) -> None:
    def nothing(*_: object) -> dict[str, str]:
        raise OpsError("stack: ml-platform is not deployed in us-west-2")

    monkeypatch.setattr("hyperpod_cli.aws.stacks.outputs_of", nothing)
    with raises(OpsError):
        env(config=DEFAULT_CONFIG)
    # Whoever has all that the stack would tell needs none.
    for line in LISTED:
        name, _, value = line.removeprefix("export ").partition("=")
        monkeypatch.setenv(name, value)
    env(config=DEFAULT_CONFIG)
    assert capsys.readouterr().out.splitlines() == LISTED


CLUSTER = "Custom::HyperPodCluster"
_OF_PLATFORM = (
    "ClusterArn",
    "DnsName",
    "Endpoint",
    "ExecutionRole",
    "MountName",
    "SecretArn",
    "SecurityGroupIds",
    "SourceS3Uri",
    "VolumeKmsKeyId",
)
CREATE_CLUSTER = Session().get_service_model("sagemaker").shape_for("CreateClusterRequest")


def outputs(config: Config) -> dict[str, str]:
    subnets = [f"subnet-{index:017x}" for index, _ in enumerate(config.network.hyperpod_subnets)]
    return {
        "EKSClusterArn": f"arn:aws:eks:us-west-2:111122223333:cluster/{config.eks_cluster_name}",
        "S3BucketName": f"sagemaker-{config.name}",
        "SageMakerIAMRoleArn": "arn:aws:iam::111122223333:role/Nodes",
        "OutputPrivateSubnetIds": ",".join(subnets),
        "SecurityGroupId": "sg-0123456789abcdef0",
        **({"EncryptionKeyArn": KEY} if config.encryption.has_key else {}),
        **{
            f"{files.output_prefix}FileSystem{name}": value
            for _, files in (() if config.storage is None else config.storage.placed_files)
            for name, value in (
                ("DnsName", "fs-0123456789abcdef0.fsx.us-west-2.amazonaws.com"),
                ("MountName", "abcdefgh"),
            )
        },
        "AccountingEndpoint": "slurm.abcdefghijkl.us-west-2.rds.amazonaws.com",
        "AccountingSecretArn": "arn:aws:secretsmanager:us-west-2:111122223333:secret:s-AbCdEf",
    }


@pytest.mark.parametrize("path", [*SHIPPED, EVERY_FIELD], ids=lambda path: path.stem)
def test_the_api_takes_it(path: Path) -> None:
    config = load_config(path)
    request = cluster_config(config, outputs=outputs(config), region="us-west-2")

    # A date is text in the file, which the AWS CLI reads.
    assert not ParamValidator().validate(request, CREATE_CLUSTER).has_errors()
    found = violations_of(CREATE_CLUSTER, request)
    assert [each for each in found if not each.constraint.endswith("type timestamp")] == []
    assert request["ClusterName"] == config.cluster.name
    assert request["VpcConfig"]["Subnets"] == [f"subnet-{0:017x}"]


@pytest.mark.parametrize("path", SHIPPED, ids=lambda path: path.stem)
def test_it_has_what_a_deployment_sends(path: Path, assemble: Assemble) -> None:
    config = load_config(path)
    by_hand = cluster_config(config, outputs=outputs(config), region="us-west-2")
    view = TemplateView(assemble(config).templates()[f"{config.name}-hyperpod"])
    sent = view.text(view.one(CLUSTER)["Request"]).replace("<AWS::AccountId>", "111122223333")

    assert _shape(by_hand) == _shape(json.loads(sent))


def _shape(value: Any) -> Any:  # noqa: ANN401 - JSON
    """Return a request without what names resources of the platform."""
    if isinstance(value, dict):
        return {key: _shape(each) for key, each in value.items() if key not in _OF_PLATFORM} | (
            {"Subnets": len(value["Subnets"])} if "Subnets" in value else {}
        )
    return [_shape(each) for each in value] if isinstance(value, list) else value


def test_a_key_that_is_not_deployed_is_missed(configure: Configure, raises: Raises) -> None:
    config = configure({"encryption": {"create_kms_key": True}})
    deployed = {name: value for name, value in outputs(config).items() if value != KEY}

    with raises(OpsError):
        cluster_config(config, outputs=deployed, region="us-west-2")


def test_a_role_that_comes_with_the_cluster_is_missed(configure: Configure, raises: Raises) -> None:
    config = configure({"cluster": {"auto_scaling": "Karpenter"}})

    with raises(OpsError):
        cluster_config(config, outputs=outputs(config), region="us-west-2")
