"""What HyperPod checks before it creates a cluster, and roles that ask for the account."""

import json
from collections.abc import Iterator
from contextlib import ExitStack
from typing import Any

import pytest
from botocore.exceptions import ClientError

from hyperpod_emulator.aws.local_aws import ACCOUNT, LocalAws
from hyperpod_emulator.testing import site as hyperpod_site
from hyperpod_emulator.testing.site import BUCKET, EKS, INSTANCE_ROLE_POLICY, Site
from hyperpod_emulator.testing.stacks import StackFailedError, client, delete, deploy, network


def test_a_role_hyperpod_cannot_assume(site: Site) -> None:
    with pytest.raises(ClientError, match="Could not assume role") as error:
        client(site.aws, "sagemaker").create_cluster(
            **site.request(ExecutionRole=site.names["LambdaRole"])
        )
    assert error.value.response["Error"]["Code"] == "ValidationException"


def test_a_role_that_may_not_read_the_script(site: Site) -> None:
    blind = site.request(ExecutionRole=site.names["BlindRole"])
    with pytest.raises(ClientError) as error:
        client(site.aws, "sagemaker").create_cluster(**blind)
    message = str(error.value)
    assert f"is not allowed s3:ListBucket on arn:aws:s3:::{BUCKET}." in message
    assert f"s3:GetObject on arn:aws:s3:::{BUCKET}/scripts/on_create.sh." in message


@pytest.mark.parametrize(
    ("uri", "reason"),
    [
        (f"s3://{BUCKET}", "the object does not exist"),
        ("s3://sagemaker-nowhere/scripts", "the bucket does not exist"),
        ("s3://other-bucket/scripts", "is not allowed s3:GetObject"),
    ],
)
def test_a_script_that_cannot_be_fetched(site: Site, uri: str, reason: str) -> None:
    script = {"SourceS3Uri": uri, "OnCreate": "on_create.sh"}
    with pytest.raises(ClientError, match=reason):
        client(site.aws, "sagemaker").create_cluster(**site.request(LifeCycleConfig=script))


def test_network_and_eks_must_exist_and_fit(site: Site) -> None:
    sagemaker = client(site.aws, "sagemaker")
    no_eks = site.request() | {"Orchestrator": {"Eks": {"ClusterArn": f"{EKS}:cluster/nothing"}}}
    with pytest.raises(ClientError, match="cluster/nothing does not exist"):
        sagemaker.create_cluster(**no_eks)
    network_ = {"Subnets": ["subnet-0"], "SecurityGroupIds": [site.names["OtherGroup"]]}
    with pytest.raises(ClientError) as error:
        sagemaker.create_cluster(**site.request() | {"VpcConfig": network_})
    assert "subnet-0 does not exist" in str(error.value)
    assert f"{site.names['OtherGroup']} is not in vpc-" in str(error.value)


def test_a_key_must_exist_here_and_be_usable(site: Site) -> None:
    sagemaker, kms = client(site.aws, "sagemaker"), client(site.aws, "kms")
    elsewhere = f"arn:aws:kms:eu-west-1:{ACCOUNT}:key/1234abcd-12ab-34cd-56ef-1234567890ab"
    disabled = kms.create_key()["KeyMetadata"]["KeyId"]
    kms.disable_key(KeyId=disabled)
    signing = kms.create_key(KeySpec="RSA_2048", KeyUsage="SIGN_VERIFY")["KeyMetadata"]["Arn"]
    reasons = {elsewhere: "does not exist", disabled: "is Disabled", signing: "is not symmetric"}
    for key, reason in reasons.items():
        volume = {"EbsVolumeConfig": {"VolumeKmsKeyId": key, "RootVolume": True}}
        with pytest.raises(ClientError, match=f"KMS key {key} {reason}"):
            sagemaker.create_cluster(**site.request(InstanceStorageConfigs=[volume]))

    eks = client(site.aws, "eks")
    found = eks.describe_cluster(name=site.names["Cluster"].rpartition("/")[2])["cluster"]
    for key, reason in reasons.items():
        with pytest.raises(eks.exceptions.InvalidParameterException, match=reason):
            eks.create_cluster(
                name="encrypted",
                roleArn=found["roleArn"],
                resourcesVpcConfig={"subnetIds": found["resourcesVpcConfig"]["subnetIds"]},
                encryptionConfig=[{"resources": ["secrets"], "provider": {"keyArn": key}}],
            )


def test_wrong_credentials_are_refused(site: Site) -> None:
    unknown = client(site.aws, "sagemaker", aws_access_key_id="AKIAUNKNOWN")
    with pytest.raises(ClientError, match="security token included in the request is invalid"):
        unknown.list_clusters()


def test_without_a_hyperpod_api_the_error_says_so(aws: LocalAws) -> None:
    with pytest.raises(ClientError, match="EMULATOR_HYPERPOD_API is not set"):
        client(aws, "sagemaker").list_clusters()


def test_the_network_of_nodes_is_not_deleted(site: Site) -> None:
    cloudformation = client(site.aws, "cloudformation")
    owner = deploy(site.aws, network(), {name: {"Ref": name} for name in ("Nodes", "Group")})
    vpc = {"Subnets": [owner.outputs["Nodes"]], "SecurityGroupIds": [owner.outputs["Group"]]}
    site.hyperpod.clusters["c2"] = {
        "ClusterName": "c2",
        "InstanceGroups": [{"CurrentCount": 1, "OverrideVpcConfig": vpc}],
    }

    with pytest.raises(StackFailedError, match="DELETE_FAILED"):
        delete(site.aws, owner)
    resources = cloudformation.describe_stack_resources(StackName=owner.name)["StackResources"]
    kept = {each["LogicalResourceId"]: each.get("ResourceStatusReason", "") for each in resources}
    assert "has dependencies and cannot be deleted" in kept["Nodes"]
    assert "has a dependent object" in kept["Group"]
    assert "First" not in kept

    site.hyperpod.clusters["c2"]["InstanceGroups"][0]["CurrentCount"] = 0
    delete(site.aws, owner)


NODES, SCALING = "sagemaker.amazonaws.com", "hyperpod.sagemaker.amazonaws.com"
OTHER_ACCOUNT = "111122223333"
STRICT = {"StringEquals": {"aws:SourceAccount": ACCOUNT}}
IF_SENT = {"StringEqualsIfExists": {"aws:SourceAccount": ACCOUNT}}
FOREIGN = {"StringEqualsIfExists": {"aws:SourceAccount": OTHER_ACCOUNT}}


@pytest.fixture(scope="module")
def sites(shared_site: Site) -> Iterator[dict[str, Site]]:
    """Return a local AWS whose HyperPod sends the account, and one whose HyperPod does not."""
    with ExitStack() as stack:
        sending = stack.enter_context(hyperpod_site.site(source_account=True))
        yield {"sent": sending, "not-sent": shared_site}


def role_arn(site: Site, *, service: str, condition: dict[str, Any]) -> str:
    iam = client(site.aws, "iam")
    name = f"role-{len(iam.list_roles()['Roles'])}"
    trust = {
        "Effect": "Allow",
        "Principal": {"Service": service},
        "Action": "sts:AssumeRole",
        "Condition": condition,
    }
    document = json.dumps({"Version": "2012-10-17", "Statement": [trust]})
    arn: str = iam.create_role(RoleName=name, AssumeRolePolicyDocument=document)["Role"]["Arn"]
    iam.attach_role_policy(RoleName=name, PolicyArn=INSTANCE_ROLE_POLICY)
    return arn


@pytest.mark.parametrize("service", [NODES, SCALING])
@pytest.mark.parametrize(
    ("condition", "sending", "works"),
    [
        pytest.param(IF_SENT, "sent", True, id="if-sent-sent"),
        pytest.param(IF_SENT, "not-sent", True, id="if-sent-not-sent"),
        pytest.param(STRICT, "sent", True, id="strict-sent"),
        pytest.param(STRICT, "not-sent", False, id="strict-not-sent"),
        pytest.param(FOREIGN, "sent", False, id="of-another-account"),
    ],
)
def test_a_role_that_asks_for_the_account(
    *,
    sites: dict[str, Site],
    service: str,
    condition: dict[str, Any],
    sending: str,
    works: bool,
) -> None:
    site = sites[sending]
    site.hyperpod.clusters.clear()
    role = role_arn(site, service=service, condition=condition)
    nodes = role if service == NODES else site.names["ExecutionRole"]
    request = site.request(ExecutionRole=nodes)
    if service == SCALING:
        request["ClusterRole"] = role
    sagemaker = client(site.aws, "sagemaker")

    if works:
        sagemaker.create_cluster(**request)
        assert site.hyperpod.clusters.keys() == {"c1"}
    else:
        with pytest.raises(ClientError, match=f"Could not assume role {role}"):
            sagemaker.create_cluster(**request)
        assert site.hyperpod.clusters == {}
