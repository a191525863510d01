"""The input of CreateCluster for the manual path is the one that a deployment sends."""

import json
from pathlib import Path
from typing import Any

import pytest
from botocore.session import Session
from botocore.validate import ParamValidator

from emulator.hyperpod.service_model import violations_of
from hyperpod_cdk import Config, load_config
from hyperpod_cli.operate.workshop import cluster_config
from hyperpod_cli.terminal.errors import OpsError
from tests.conftest import Assemble, Configure
from tests.support.configs import EVERY_FIELD, KEY, SHIPPED
from tests.support.template_view import TemplateView

CLUSTER = "Custom::HyperPodCluster"
_OF_PLATFORM = (
    "ClusterArn",
    "ExecutionRole",
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
    }


@pytest.mark.parametrize("path", [*SHIPPED, EVERY_FIELD], ids=lambda path: path.stem)
def test_the_api_takes_it(path: Path) -> None:
    config = load_config(path)
    request = cluster_config(config, outputs=outputs(config))

    # A date is text in the file, which the AWS CLI reads.
    assert not ParamValidator().validate(request, CREATE_CLUSTER).has_errors()
    found = violations_of(CREATE_CLUSTER, request)
    assert [each for each in found if not each.constraint.endswith("type timestamp")] == []
    assert request["ClusterName"] == config.cluster.name
    assert request["VpcConfig"]["Subnets"] == [f"subnet-{0:017x}"]


@pytest.mark.parametrize("path", SHIPPED, ids=lambda path: path.stem)
def test_it_has_what_a_deployment_sends(path: Path, assemble: Assemble) -> None:
    config = load_config(path)
    by_hand = cluster_config(config, outputs=outputs(config))
    view = TemplateView(assemble(config).templates()[f"{config.name}-hyperpod"])
    sent = json.loads(view.text(view.one(CLUSTER)["Request"]))

    assert _shape(by_hand) == _shape(sent)


def _shape(value: Any) -> Any:  # noqa: ANN401 - JSON
    """Return a request without what names resources of the platform."""
    if isinstance(value, dict):
        return {key: _shape(each) for key, each in value.items() if key not in _OF_PLATFORM} | (
            {"Subnets": len(value["Subnets"])} if "Subnets" in value else {}
        )
    return [_shape(each) for each in value] if isinstance(value, list) else value


def test_a_key_that_is_not_deployed_is_missed(configure: Configure) -> None:
    config = configure({"encryption": {"create_kms_key": True}})
    deployed = {name: value for name, value in outputs(config).items() if value != KEY}

    with pytest.raises(OpsError, match="encryption: is not deployed yet"):
        cluster_config(config, outputs=deployed)


def test_a_role_that_comes_with_the_cluster_is_missed(configure: Configure) -> None:
    config = configure({"cluster": {"auto_scaling": "Karpenter"}})

    with pytest.raises(OpsError, match=r"cluster\.role_arn: is missing"):
        cluster_config(config, outputs=outputs(config))
