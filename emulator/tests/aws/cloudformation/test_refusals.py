"""What AWS refuses at deployment, the local AWS refuses too: such a template must not pass here."""

from typing import Any

import pytest
from botocore.exceptions import ClientError

from hyperpod_emulator.aws.local_aws import LocalAws
from hyperpod_emulator.testing.stacks import (
    StackFailedError,
    Template,
    client,
    delete,
    deploy,
    eks_cluster,
    network,
    resource,
    role,
    subnet,
)


def cidr_block(cidr: str) -> Template:
    return resource("AWS::EC2::VPCCidrBlock", VpcId={"Ref": "Vpc"}, CidrBlock=cidr)


def ingress(**properties: Any) -> Template:
    source = {"IpProtocol": "tcp", "FromPort": 988, "ToPort": 988}
    return resource(
        "AWS::EC2::SecurityGroupIngress", GroupId={"Ref": "Group"}, **(source | properties)
    )


def nat_gateway(allocation: object) -> Template:
    return resource("AWS::EC2::NatGateway", SubnetId={"Ref": "First"}, AllocationId=allocation)


def flow_log(role_name: str) -> Template:
    return resource(
        "AWS::EC2::FlowLog",
        ResourceType="VPC",
        ResourceId={"Ref": "Vpc"},
        TrafficType="ALL",
        LogGroupName="flows",
        DeliverLogsPermissionArn={"Fn::GetAtt": [role_name, "Arn"]},
    )


def route_table(vpc: str) -> Template:
    return resource("AWS::EC2::RouteTable", VpcId={"Ref": vpc})


def association(table: str) -> Template:
    return resource(
        "AWS::EC2::SubnetRouteTableAssociation",
        RouteTableId={"Ref": table},
        SubnetId={"Ref": "First"},
    )


def s3_endpoint(table: str) -> Template:
    return resource(
        "AWS::EC2::VPCEndpoint",
        VpcId={"Ref": "Vpc"},
        ServiceName="com.amazonaws.us-west-2.s3",
        VpcEndpointType="Gateway",
        RouteTableIds=[{"Ref": table}],
    )


def interface_endpoint(service: str, in_subnet: str) -> Template:
    return resource(
        "AWS::EC2::VPCEndpoint",
        VpcId={"Ref": "Vpc"},
        ServiceName=f"com.amazonaws.us-west-2.{service}",
        VpcEndpointType="Interface",
        SubnetIds=[{"Ref": in_subnet}],
    )


def cluster_with(
    *, mode: str = "API", subnets: list[str] | None = None, groups: list[str] | None = None
) -> Template:
    cluster = eks_cluster(mode)
    if groups:
        config = cluster["Properties"]["ResourcesVpcConfig"]
        config["SecurityGroupIds"] = [{"Ref": name} for name in groups]
    if subnets:
        config = cluster["Properties"]["ResourcesVpcConfig"]
        config["SubnetIds"] = [{"Ref": name} for name in subnets]
    return {"ClusterRole": role("eks.amazonaws.com"), "Cluster": cluster}


def access_entry(principal: object) -> Template:
    return resource("AWS::EKS::AccessEntry", ClusterName={"Ref": "Cluster"}, PrincipalArn=principal)


def addon(name: str, **properties: str) -> Template:
    return resource("AWS::EKS::Addon", ClusterName={"Ref": "Cluster"}, AddonName=name, **properties)


def test_a_rule_of_a_default_group_is_taken_away_once(aws: LocalAws) -> None:
    vpc = {"Vpc": resource("AWS::EC2::VPC", CidrBlock="10.8.0.0/16")}
    stack = deploy(aws, vpc, {"Group": {"Fn::GetAtt": ["Vpc", "DefaultSecurityGroup"]}})
    ec2, group = client(aws, "ec2"), stack.outputs["Group"]
    own = {"IpProtocol": "-1", "UserIdGroupPairs": [{"GroupId": group}]}
    away = {"IpProtocol": "-1", "IpRanges": [{"CidrIp": "0.0.0.0/0"}]}

    for revoke, rule in (
        (ec2.revoke_security_group_ingress, own),
        (ec2.revoke_security_group_egress, away),
    ):
        revoke(GroupId=group, IpPermissions=[rule])
        with pytest.raises(ClientError, match=r"InvalidPermission\.NotFound"):
            revoke(GroupId=group, IpPermissions=[rule])

    [found] = ec2.describe_security_groups(GroupIds=[group])["SecurityGroups"]
    assert (found["IpPermissions"], found["IpPermissionsEgress"]) == ([], [])
    delete(aws, stack)


ALLOCATION = {"Fn::GetAtt": ["Address", "AllocationId"]}
CASES: dict[str, tuple[Template, str]] = {
    "subnet outside the VPC": (
        {"Bad": subnet("172.16.0.0/24")},
        "InvalidSubnet.Range",
    ),
    "overlapping subnets": ({"Bad": subnet("10.192.7.0/24")}, "InvalidSubnet.Conflict"),
    "zone of another region": (
        {"Bad": subnet("10.192.20.0/24", AvailabilityZoneId="use1-az1")},
        "It can only be one of: usw2-az1",
    ),
    "overlapping secondary CIDR": ({"Bad": cidr_block("10.192.128.0/17")}, "InvalidVpc.Range"),
    "secondary CIDR too large": ({"Bad": cidr_block("10.0.0.0/8")}, "use /16 to /28"),
    "duplicate rule": (
        {"Bad": ingress(CidrIp="10.0.0.0/8"), "Worse": ingress(CidrIp="10.0.0.0/8")},
        "InvalidPermission.Duplicate",
    ),
    "rule from nowhere": ({"Bad": ingress()}, "names no CIDR"),
    "rule for an unknown group": (
        {"Bad": ingress(SourceSecurityGroupId="sg-0123")},
        "InvalidGroup.NotFound",
    ),
    "NAT without an address": ({"Bad": nat_gateway("eipalloc-0")}, "InvalidAllocationID"),
    "two NATs on one address": (
        {
            "Address": resource("AWS::EC2::EIP", Domain="vpc"),
            "Bad": nat_gateway(ALLOCATION),
            "Worse": nat_gateway(ALLOCATION),
        },
        "Resource.AlreadyAssociated",
    ),
    "one CIDR more than the quota": (
        {f"Bad{number}": cidr_block(f"10.{number}.0.0/16") for number in range(20, 25)},
        "CidrLimitExceeded",
    ),
    "route table of another VPC": (
        {
            "Other": resource("AWS::EC2::VPC", CidrBlock="10.7.0.0/16"),
            "Table": route_table("Other"),
            "Bad": association("Table"),
        },
        "belong to different networks",
    ),
    "second route table of a subnet": (
        {
            "Table": route_table("Vpc"),
            "Bad": association("Table"),
            "Worse": association("Table"),
        },
        "Resource.AlreadyAssociated",
    ),
    "route to a NAT gateway that is not there": (
        {
            "Table": route_table("Vpc"),
            "Bad": resource(
                "AWS::EC2::Route",
                RouteTableId={"Ref": "Table"},
                DestinationCidrBlock="0.0.0.0/0",
                NatGatewayId="nat-0123456789abcdef0",
            ),
        },
        "InvalidNatGatewayID.NotFound",
    ),
    "second endpoint of a service on a route table": (
        {"Table": route_table("Vpc"), "Bad": s3_endpoint("Table"), "Worse": s3_endpoint("Table")},
        "RouteAlreadyExists",
    ),
    "endpoint in a zone that its service lacks": (
        {"Bad": interface_endpoint("eks-auth", "Nodes")},
        "InvalidParameter: The VPC endpoint service com.amazonaws.us-west-2.eks-auth does not "
        "support the availability zone of the subnet: subnet-",
    ),
    "endpoint of a service that there is not": (
        {"Bad": interface_endpoint("eks-auto", "First")},
        "InvalidServiceName: The Vpc Endpoint Service 'com.amazonaws.us-west-2.eks-auto' does not",
    ),
    "EKS with a security group of another VPC": (
        {
            "Other": resource("AWS::EC2::VPC", CidrBlock="10.7.0.0/16"),
            "Foreign": resource(
                "AWS::EC2::SecurityGroup", GroupDescription="foreign", VpcId={"Ref": "Other"}
            ),
            **cluster_with(groups=["Foreign"]),
        },
        "does not belong to the VPC of the subnets",
    ),
    "flow log role trusting another service": (
        {"FlowRole": role("lambda.amazonaws.com"), "Bad": flow_log("FlowRole")},
        "vpc-flow-logs.amazonaws.com may assume",
    ),
    "EKS in one zone": (cluster_with(subnets=["Second"]), "at least two different AZs"),
    "access entry with CONFIG_MAP": (
        {
            **cluster_with(mode="CONFIG_MAP"),
            "Bad": access_entry({"Fn::GetAtt": ["ClusterRole", "Arn"]}),
        },
        "authentication mode must be set",
    ),
    "access entry for a role that is not there": (
        {**cluster_with(), "Bad": access_entry("arn:aws:iam::000000000000:role/nobody")},
        "no such principal",
    ),
    "second access entry of one principal": (
        {
            **cluster_with(),
            "Bad": access_entry({"Fn::GetAtt": ["ClusterRole", "Arn"]}),
            "Worse": access_entry({"Fn::GetAtt": ["ClusterRole", "Arn"]}),
        },
        "ResourceInUseException",
    ),
    "add-on of an unknown cluster": (
        {"Bad": resource("AWS::EKS::Addon", ClusterName="nothing", AddonName="vpc-cni")},
        "ResourceNotFoundException",
    ),
    "version of an add-on that EKS does not offer": (
        {**cluster_with(), "Bad": addon("kube-proxy", AddonVersion="v1.33.10-eksbuild.99")},
        "InvalidParameterException: Addon version specified is not supported",
    ),
    "add-on that EKS does not offer": (
        {**cluster_with(), "Bad": addon("kube-dns")},
        "InvalidParameterException: Addon kube-dns specified is not supported in 1.34 kubernetes",
    ),
    "add-on that the cluster has": (
        {**cluster_with(), "Bad": addon("vpc-cni"), "Worse": addon("vpc-cni")},
        "ResourceInUseException: Addon already exists",
    ),
}


@pytest.mark.parametrize("case", CASES)
def test_the_stack_fails_with_the_reason(aws: LocalAws, case: str) -> None:
    bad, reason = CASES[case]
    with pytest.raises(StackFailedError) as error:
        deploy(aws, {**network(), **bad}, {})
    assert reason in str(error.value)
