"""A template with the resource types that the local AWS adds."""

from tests.support.local_aws import Template, eks_cluster, network, role

ADMIN_POLICY = "arn:aws:eks::aws:cluster-access-policy/AmazonEKSClusterAdminPolicy"
VIEW_POLICY = "arn:aws:eks::aws:cluster-access-policy/AmazonEKSViewPolicy"


def resources(*, policy: str = ADMIN_POLICY, cni_version: str = "v1.20.4-eksbuild.2") -> Template:
    return {
        **network(),
        "Address": {"Type": "AWS::EC2::EIP", "Properties": {"Domain": "vpc"}},
        "Nat": {
            "Type": "AWS::EC2::NatGateway",
            "Properties": {
                "SubnetId": {"Ref": "First"},
                "AllocationId": {"Fn::GetAtt": ["Address", "AllocationId"]},
                "Tags": [{"Key": "Name", "Value": "nat-1"}],
            },
        },
        "FlowLogRole": role("vpc-flow-logs.amazonaws.com"),
        "FlowLog": {
            "Type": "AWS::EC2::FlowLog",
            "Properties": {
                "ResourceType": "VPC",
                "ResourceId": {"Ref": "Vpc"},
                "TrafficType": "ALL",
                "LogGroupName": "flows",
                "DeliverLogsPermissionArn": {"Fn::GetAtt": ["FlowLogRole", "Arn"]},
            },
        },
        "ClusterRole": role("eks.amazonaws.com"),
        "NodeRole": role("sagemaker.amazonaws.com"),
        "Cluster": eks_cluster(),
        "Entry": {
            "Type": "AWS::EKS::AccessEntry",
            "Properties": {
                "ClusterName": {"Ref": "Cluster"},
                "PrincipalArn": {"Fn::GetAtt": ["ClusterRole", "Arn"]},
                "AccessPolicies": [{"PolicyArn": policy, "AccessScope": {"Type": "cluster"}}],
            },
        },
        "NodeEntry": {
            "Type": "AWS::EKS::AccessEntry",
            "Properties": {
                "ClusterName": {"Ref": "Cluster"},
                "PrincipalArn": {"Fn::GetAtt": ["NodeRole", "Arn"]},
                "Type": "HYPERPOD_LINUX",
            },
        },
        "Cni": {
            "Type": "AWS::EKS::Addon",
            "Properties": {
                "ClusterName": {"Ref": "Cluster"},
                "AddonName": "vpc-cni",
                "AddonVersion": cni_version,
            },
        },
        "Identity": {
            "Type": "AWS::EKS::PodIdentityAssociation",
            "Properties": {
                "ClusterName": {"Ref": "Cluster"},
                "Namespace": "kube-system",
                "ServiceAccount": "fsx-csi",
                "RoleArn": {"Fn::GetAtt": ["NodeRole", "Arn"]},
            },
        },
    }


OUTPUTS = {
    "Vpc": {"Ref": "Vpc"},
    "Secondary": {"Fn::GetAtt": ["Secondary", "Id"]},
    "First": {"Ref": "First"},
    "Nodes": {"Ref": "Nodes"},
    "Group": {"Ref": "Group"},
    "In": {"Ref": "In"},
    "PublicIp": {"Ref": "Address"},
    "Allocation": {"Fn::GetAtt": ["Address", "AllocationId"]},
    "Nat": {"Fn::GetAtt": ["Nat", "NatGatewayId"]},
    "FlowLog": {"Ref": "FlowLog"},
    "Cluster": {"Ref": "Cluster"},
    "Endpoint": {"Fn::GetAtt": ["Cluster", "Endpoint"]},
    "ClusterGroup": {"Fn::GetAtt": ["Cluster", "ClusterSecurityGroupId"]},
    "AdminArn": {"Fn::GetAtt": ["ClusterRole", "Arn"]},
    "NodeRoleArn": {"Fn::GetAtt": ["NodeRole", "Arn"]},
    "EntryArn": {"Fn::GetAtt": ["Entry", "AccessEntryArn"]},
    "CniArn": {"Fn::GetAtt": ["Cni", "Arn"]},
    "IdentityId": {"Fn::GetAtt": ["Identity", "AssociationId"]},
}
