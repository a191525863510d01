"""The resource types the local AWS adds, and the EC2, EKS and FSx APIs, tell the same story."""

import re

import pytest

from emulator.aws.local_aws import ACCOUNT, LocalAws
from tests.support.added_types import ADMIN_POLICY, OUTPUTS, VIEW_POLICY, resources
from tests.support.local_aws import (
    KUBERNETES_CA,
    KUBERNETES_ENDPOINT,
    Stack,
    client,
    delete,
    deploy,
    network,
    resource,
)


@pytest.fixture(scope="module")
def stack(aws: LocalAws) -> Stack:
    return deploy(aws, resources(), OUTPUTS)


@pytest.fixture(scope="module")
def outputs(stack: Stack) -> dict[str, str]:
    return stack.outputs


def test_addresses_and_nat_gateways(aws: LocalAws, outputs: dict[str, str]) -> None:
    ec2 = client(aws, "ec2")
    [address] = ec2.describe_addresses(AllocationIds=[outputs["Allocation"]])["Addresses"]
    [nat] = ec2.describe_nat_gateways(NatGatewayIds=[outputs["Nat"]])["NatGateways"]
    assert address["PublicIp"] == outputs["PublicIp"]
    assert address["AssociationId"]
    assert (nat["SubnetId"], nat["State"]) == (outputs["First"], "available")
    assert {"Key": "Name", "Value": "nat-1"} in nat["Tags"]


def test_secondary_cidr_and_its_subnet(aws: LocalAws, outputs: dict[str, str]) -> None:
    ec2 = client(aws, "ec2")
    [vpc] = ec2.describe_vpcs(VpcIds=[outputs["Vpc"]])["Vpcs"]
    [nodes] = ec2.describe_subnets(SubnetIds=[outputs["Nodes"]])["Subnets"]
    blocks = {b["AssociationId"]: b["CidrBlock"] for b in vpc["CidrBlockAssociationSet"]}
    assert sorted(blocks.values()) == ["10.1.0.0/16", "10.192.0.0/16"]
    assert blocks[outputs["Secondary"]] == "10.1.0.0/16"
    assert (nodes["AvailabilityZone"], nodes["AvailabilityZoneId"]) == ("us-west-2d", "usw2-az4")
    assert nodes["AvailableIpAddressCount"] == 65531


def test_security_group_rules(aws: LocalAws, outputs: dict[str, str]) -> None:
    rules = client(aws, "ec2").describe_security_group_rules(
        Filters=[{"Name": "group-id", "Values": [outputs["Group"]]}]
    )["SecurityGroupRules"]
    by_itself = [
        (rule["IsEgress"], rule["IpProtocol"])
        for rule in rules
        if rule.get("ReferencedGroupInfo", {}).get("GroupId") == outputs["Group"]
    ]
    assert sorted(by_itself) == [(False, "-1"), (True, "-1")]
    assert outputs["In"] in {rule["SecurityGroupRuleId"] for rule in rules}


def test_an_egress_rule_to_everywhere_takes_the_default_ones_place(aws: LocalAws) -> None:
    open_ = resource(
        "AWS::EC2::SecurityGroupEgress",
        GroupId={"Ref": "Group"},
        IpProtocol="-1",
        CidrIp="0.0.0.0/0",
    )
    found = deploy(aws, {**network(), "Open": open_}, {"Group": {"Ref": "Group"}})
    rules = client(aws, "ec2").describe_security_group_rules(
        Filters=[{"Name": "group-id", "Values": [found.outputs["Group"]]}]
    )["SecurityGroupRules"]
    everywhere = [rule for rule in rules if rule["IsEgress"] and rule.get("CidrIpv4")]
    assert [rule["CidrIpv4"] for rule in everywhere] == ["0.0.0.0/0"]
    delete(aws, found)


def test_flow_log(aws: LocalAws, outputs: dict[str, str]) -> None:
    [log] = client(aws, "ec2").describe_flow_logs(FlowLogIds=[outputs["FlowLog"]])["FlowLogs"]
    assert (log["ResourceId"], log["FlowLogStatus"]) == (outputs["Vpc"], "ACTIVE")


def test_eks_cluster_points_at_the_rehearsals_kubernetes(
    aws: LocalAws, outputs: dict[str, str]
) -> None:
    cluster = client(aws, "eks").describe_cluster(name=outputs["Cluster"])["cluster"]
    assert cluster["status"] == "ACTIVE"
    assert cluster["endpoint"] == outputs["Endpoint"] == KUBERNETES_ENDPOINT
    assert cluster["certificateAuthority"]["data"] == KUBERNETES_CA
    assert cluster["accessConfig"]["authenticationMode"] == "API"
    issuer = cluster["identity"]["oidc"]["issuer"]
    assert re.fullmatch(r"https://oidc\.eks\.us-west-2\.amazonaws\.com/id/[0-9A-F]{32}", issuer)
    assert cluster["resourcesVpcConfig"]["vpcId"] == outputs["Vpc"]
    groups = client(aws, "ec2").describe_security_groups(GroupIds=[outputs["ClusterGroup"]])
    assert groups["SecurityGroups"][0]["GroupName"].startswith("eks-cluster-sg-")


def test_access_entries(aws: LocalAws, outputs: dict[str, str]) -> None:
    eks = client(aws, "eks")
    admin = {"clusterName": outputs["Cluster"], "principalArn": outputs["AdminArn"]}
    entry = eks.describe_access_entry(**admin)["accessEntry"]
    policies = eks.list_associated_access_policies(**admin)["associatedAccessPolicies"]
    nodes = eks.describe_access_entry(
        clusterName=outputs["Cluster"], principalArn=outputs["NodeRoleArn"]
    )["accessEntry"]
    assert entry["accessEntryArn"] == outputs["EntryArn"]
    assert f":access-entry/{outputs['Cluster']}/role/{ACCOUNT}/" in outputs["EntryArn"]
    assert [p["policyArn"] for p in policies] == [ADMIN_POLICY]
    assert nodes["type"] == "HYPERPOD_LINUX"


def test_addon_and_pod_identity(aws: LocalAws, outputs: dict[str, str]) -> None:
    eks, cluster = client(aws, "eks"), outputs["Cluster"]
    addon = eks.describe_addon(clusterName=cluster, addonName="vpc-cni")["addon"]
    identity = eks.describe_pod_identity_association(
        clusterName=cluster, associationId=outputs["IdentityId"]
    )["association"]
    assert (addon["addonArn"], addon["status"]) == (outputs["CniArn"], "ACTIVE")
    assert identity["serviceAccount"] == "fsx-csi"


def test_update_in_place_then_delete(aws: LocalAws, stack: Stack) -> None:
    eks, cluster = client(aws, "eks"), stack.outputs["Cluster"]
    changed = resources(policy=VIEW_POLICY, cni_version="v1.21.1-eksbuild.8")
    after = deploy(aws, changed, OUTPUTS, stack=stack.name)
    policies = eks.list_associated_access_policies(
        clusterName=cluster, principalArn=stack.outputs["AdminArn"]
    )["associatedAccessPolicies"]
    addon = eks.describe_addon(clusterName=cluster, addonName="vpc-cni")["addon"]
    assert after.outputs == stack.outputs
    assert [p["policyArn"] for p in policies] == [VIEW_POLICY]
    assert addon["addonVersion"] == "v1.21.1-eksbuild.8"

    delete(aws, stack)
    ec2 = client(aws, "ec2")
    addresses = ec2.describe_addresses()["Addresses"]
    logs = ec2.describe_flow_logs()["FlowLogs"]
    [nat] = ec2.describe_nat_gateways(NatGatewayIds=[stack.outputs["Nat"]])["NatGateways"]
    assert cluster not in eks.list_clusters()["clusters"]
    assert stack.outputs["Allocation"] not in [address["AllocationId"] for address in addresses]
    assert stack.outputs["FlowLog"] not in [log["FlowLogId"] for log in logs]
    assert nat["State"] == "deleted"
