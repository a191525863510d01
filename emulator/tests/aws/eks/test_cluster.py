"""Clusters of EKS: version, protection, logs and authentication mode."""

import json
from typing import Any

import pytest
from botocore.exceptions import ClientError

from hyperpod_emulator.aws.local_aws import LocalAws
from hyperpod_emulator.testing.stacks import (
    Stack,
    StackFailedError,
    Template,
    client,
    delete,
    deploy,
    eks_network,
    resource,
    settled,
)

PROXIES = {"1.34": "v1.34.6-eksbuild.2", "1.35": "v1.35.3-eksbuild.2"}
OUTPUTS = {"Name": {"Ref": "Cluster"}}


def template(version: str, *, proxy: str = "v1.33.10-eksbuild.2", **more: Any) -> Template:
    return {
        **eks_network(Version=version),
        "KubeProxy": resource(
            "AWS::EKS::Addon",
            ClusterName={"Ref": "Cluster"},
            AddonName="kube-proxy",
            AddonVersion=PROXIES.get(version, proxy),
        ),
        **more,
    }


def version_of(aws: LocalAws, stack: Stack) -> str:
    eks = client(aws, "eks")
    return str(eks.describe_cluster(name=stack.outputs["Name"])["cluster"]["version"])


def test_none_is_made_of_a_version_whose_support_has_ended(aws: LocalAws) -> None:
    with pytest.raises(StackFailedError, match=r"unsupported Kubernetes version: 1\.28"):
        deploy(aws, eks_network(Version="1.28"), {})


@pytest.mark.parametrize(
    ("version", "wanted", "said"),
    [
        ("1.33", "1.35", "Unsupported Kubernetes minor version update from 1.33 to 1.35"),
        ("1.34", "1.33", "Unsupported Kubernetes minor version update from 1.34 to 1.33"),
    ],
)
def test_other_steps_than_one_up_are_refused(
    aws: LocalAws, version: str, wanted: str, said: str
) -> None:
    stack = deploy(aws, template(version), OUTPUTS)

    with pytest.raises(StackFailedError, match=said):
        deploy(aws, template(wanted), OUTPUTS, stack=stack.name)
    assert version_of(aws, stack) == version
    with pytest.raises(ClientError, match=said):
        client(aws, "eks").update_cluster_version(name=stack.outputs["Name"], version=wanted)


def upgrade_and_fail(aws: LocalAws, stack: Stack, version: str) -> str:
    """Fail after the upgrade of the cluster and of kube-proxy; return the status of the stack."""
    broken = resource("AWS::EKS::AccessEntry", ClusterName={"Ref": "Cluster"}, PrincipalArn="x")
    with pytest.raises(StackFailedError):
        deploy(
            aws,
            template(version, Broken=broken | {"DependsOn": ["KubeProxy"]}),
            OUTPUTS,
            stack=stack.name,
        )
    assert version_of(aws, stack) == version
    return str(settled(client(aws, "cloudformation"), stack.name)["StackStatus"])


def test_the_rollback_of_an_upgrade_keeps_the_version_with_the_former_addons(aws: LocalAws) -> None:
    stack = deploy(aws, template("1.34"), OUTPUTS)

    assert upgrade_and_fail(aws, stack, "1.35") == "UPDATE_ROLLBACK_COMPLETE"
    addon = client(aws, "eks").describe_addon(
        clusterName=stack.outputs["Name"], addonName="kube-proxy"
    )["addon"]
    assert addon["addonVersion"] == PROXIES["1.34"]
    deploy(aws, template("1.35"), OUTPUTS, stack=stack.name)


def test_an_addon_that_eks_no_longer_offers_may_be_skipped(aws: LocalAws) -> None:
    stack = deploy(aws, template("1.33", proxy="v1.30.14-eksbuild.28"), OUTPUTS)
    cloudformation = client(aws, "cloudformation")

    assert upgrade_and_fail(aws, stack, "1.34") == "UPDATE_ROLLBACK_FAILED"
    resources = cloudformation.describe_stack_resources(StackName=stack.name)["StackResources"]
    skipped = [
        each["LogicalResourceId"] for each in resources if "FAILED" in each["ResourceStatus"]
    ]
    assert skipped == ["KubeProxy"]
    cloudformation.continue_update_rollback(StackName=stack.name, ResourcesToSkip=skipped)
    assert settled(cloudformation, stack.name)["StackStatus"] == "UPDATE_ROLLBACK_COMPLETE"
    deploy(aws, template("1.34"), OUTPUTS, stack=stack.name)


def test_eks_goes_back_once_if_the_addons_fit_or_by_force(aws: LocalAws) -> None:
    stack = deploy(aws, template("1.34"), OUTPUTS)
    eks, name = client(aws, "eks"), stack.outputs["Name"]
    deploy(aws, template("1.35"), OUTPUTS, stack=stack.name)

    unfit = r"InvalidStateException.*kube-proxy v1.35.3-eksbuild.2 not compatible with 1"
    with pytest.raises(ClientError, match=unfit):
        eks.update_cluster_version(name=name, version="1.34")
    update = eks.update_cluster_version(name=name, version="1.34", force=True)["update"]
    assert (update["type"], version_of(aws, stack)) == ("VersionRollback", "1.34")
    asked = {"name": name, "updateId": update["id"]}
    statuses = [eks.describe_update(**asked)["update"]["status"] for _ in range(3)]
    assert statuses == ["InProgress", "Successful", "Successful"]
    with pytest.raises(ClientError, match="ResourceNotFoundException"):
        eks.describe_update(name=name, updateId="0")
    with pytest.raises(ClientError, match=r"from 1.34 to 1.33"):
        eks.update_cluster_version(name=name, version="1.33", force=True)

    deploy(aws, template("1.34"), OUTPUTS, stack=stack.name)
    assert version_of(aws, stack) == "1.34"


def test_a_cluster_shows_tags_that_were_set_later(aws: LocalAws) -> None:
    wanted = eks_network(Name="tagged", Tags=[{"Key": "team", "Value": "a"}])
    stack = deploy(aws, wanted, {"Arn": {"Fn::GetAtt": ["Cluster", "Arn"]}})
    eks = client(aws, "eks")
    eks.tag_resource(resourceArn=stack.outputs["Arn"], tags={"owner:x": "1"})
    tags = eks.describe_cluster(name="tagged")["cluster"]["tags"]
    assert (tags["team"], tags["owner:x"]) == ("a", "1")

    eks.untag_resource(resourceArn=stack.outputs["Arn"], tagKeys=["owner:x"])
    assert "owner:x" not in eks.describe_cluster(name="tagged")["cluster"]["tags"]
    delete(aws, stack)


def test_a_protected_cluster_stays_until_it_is_lifted(aws: LocalAws) -> None:
    eks = client(aws, "eks")
    stack = deploy(aws, eks_network(Name="kept", DeletionProtection=True), {})
    with pytest.raises(ClientError, match="InvalidRequestException"):
        eks.delete_cluster(name="kept")
    with pytest.raises(StackFailedError, match="DELETE_FAILED"):
        delete(aws, stack)
    assert "kept" in eks.list_clusters()["clusters"]

    eks.update_cluster_config(name="kept", deletionProtection=False)
    delete(aws, stack)

    assert "kept" not in eks.list_clusters()["clusters"]


def test_an_update_of_the_stack_lifts_it(aws: LocalAws) -> None:
    wanted = eks_network(Name="lifted", DeletionProtection=True)
    stack = deploy(aws, wanted, {})
    assert client(aws, "eks").describe_cluster(name="lifted")["cluster"]["deletionProtection"]

    wanted["Cluster"]["Properties"]["DeletionProtection"] = False
    deploy(aws, wanted, {}, stack=stack.name)
    delete(aws, stack)

    assert "lifted" not in client(aws, "eks").list_clusters()["clusters"]


LOGGED = {"ClusterLogging": {"EnabledTypes": [{"Type": "audit"}]}}


def own_group(name: str) -> Template:
    return {
        "Type": "AWS::Logs::LogGroup",
        "Properties": {"LogGroupName": f"/aws/eks/{name}/cluster", "RetentionInDays": 90},
    }


def groups(aws: LocalAws, name: str) -> list[dict[str, Any]]:
    found: list[dict[str, Any]] = client(aws, "logs").describe_log_groups(
        logGroupNamePrefix=f"/aws/eks/{name}/"
    )["logGroups"]
    return found


def test_a_group_that_eks_makes_never_expires_and_stays(aws: LocalAws) -> None:
    stack = deploy(aws, eks_network(Name="left", Logging=LOGGED), {})
    (group,) = groups(aws, "left")
    assert "retentionInDays" not in group

    delete(aws, stack)

    assert len(groups(aws, "left")) == 1
    with pytest.raises(StackFailedError, match="'/aws/eks/left/cluster' already exists"):
        deploy(aws, {"Group": own_group("left")}, {})


def test_a_group_made_before_the_cluster_goes_with_it(aws: LocalAws) -> None:
    template = eks_network(Name="clean", Logging=LOGGED)
    template["Logs"] = own_group("clean")
    template["Cluster"]["DependsOn"] = "Logs"
    stack = deploy(aws, template, {})
    (group,) = groups(aws, "clean")
    assert group["retentionInDays"] == 90

    delete(aws, stack)

    assert groups(aws, "clean") == []


def test_a_cluster_without_logs_has_no_group(aws: LocalAws) -> None:
    deploy(aws, eks_network(Name="quiet"), {})

    assert groups(aws, "quiet") == []


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
    with pytest.raises(ClientError, match="The specified principalArn is invalid"):
        eks.create_access_entry(**user)
    client(aws, "iam").create_user(UserName="ada")
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
