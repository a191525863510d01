"""The HyperPod cluster."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from aws_cdk import Stack
from aws_cdk import aws_ec2 as ec2
from aws_cdk import aws_eks_v2 as eks
from aws_cdk import aws_iam as iam
from constructs import Construct, IDependable

from hyperpod_cdk.acknowledge import acknowledge, wildcard_finding
from hyperpod_cdk.hyperpod_access import any_hyperpod_cluster, hyperpod_access
from hyperpod_cdk.provisioner import Provisioner


@dataclass(frozen=True, kw_only=True, slots=True)
class InstanceGroup:
    """HyperPod nodes of one instance type.

    Attributes:
        name: 1 to 63 letters, digits and inner hyphens.
        instance_type: `ml.…`, one of HyperPod's.
        instance_count: 0 to 6758.
        volume_size_gib: Secondary EBS volume, mounted at /opt/sagemaker; 1 to 16384.
        threads_per_core: 1 (no hyper-threading) or 2.
        deep_health_checks: `InstanceStress` and `InstanceConnectivity`, run when a node starts;
            minutes to hours, on accelerated types only. Default: none.
    """

    name: str
    instance_type: str
    instance_count: int
    volume_size_gib: int
    threads_per_core: int
    deep_health_checks: Sequence[str] = ()


@dataclass(frozen=True, kw_only=True, slots=True)
class LifecycleConfig:
    """Where nodes find the script that they run when they are created.

    Attributes:
        source_s3_uri: `s3://bucket/prefix`.
        on_create: Script name under it.
    """

    source_s3_uri: str
    on_create: str


class HyperPodCluster(Construct):
    """A SageMaker HyperPod cluster orchestrated by EKS.

    A custom resource and not `AWS::SageMaker::Cluster`: a failure then names the group, the cause
    and the next step, and fields that CloudFormation has not learnt yet can be used.

    Args:
        cluster_name: 1 to 63 letters, digits and inner hyphens.
        eks_cluster: The orchestrator.
        provisioner: Makes the calls.
        execution_role: Role of the nodes.
        subnets: Private subnets; HyperPod puts all groups into one of them.
        security_group: Of the nodes.
        lifecycle: Script that nodes run when they are created.
        instance_groups: 1 to 100.
        node_recovery: `Automatic` reboots or replaces faulty nodes; `None` does not.
        node_provisioning_mode: `Continuous` starts with the nodes there are and goes on trying for
            the rest; None waits for all or fails.
        tags: Tags of the cluster. Default: none.
        depends_on: What must be there first: the Helm release above all.

    Attributes:
        cluster_name: Name; resolves once the cluster is in service.
        cluster_arn: ARN; it ends in a generated id, not in the name.
    """

    def __init__(
        self,
        scope: Construct,
        construct_id: str,
        *,
        cluster_name: str,
        eks_cluster: eks.ICluster,
        provisioner: Provisioner,
        execution_role: iam.IRole,
        subnets: Sequence[ec2.ISubnet],
        security_group: ec2.ISecurityGroup,
        lifecycle: LifecycleConfig,
        instance_groups: Sequence[InstanceGroup],
        node_recovery: str = "Automatic",
        node_provisioning_mode: str | None = "Continuous",
        tags: Mapping[str, str] | None = None,
        depends_on: Sequence[IDependable] = (),
    ) -> None:
        super().__init__(scope, construct_id)
        request: dict[str, Any] = {
            "ClusterName": cluster_name,
            "Orchestrator": {"Eks": {"ClusterArn": eks_cluster.cluster_arn}},
            "VpcConfig": {
                "SecurityGroupIds": [security_group.security_group_id],
                "Subnets": [subnet.subnet_id for subnet in subnets],
            },
            "NodeRecovery": node_recovery,
            "InstanceGroups": [
                _group_request(group, execution_role=execution_role, lifecycle=lifecycle)
                for group in instance_groups
            ],
        }
        if node_provisioning_mode is not None:
            request["NodeProvisioningMode"] = node_provisioning_mode
        if tags:
            request["Tags"] = [{"Key": key, "Value": value} for key, value in sorted(tags.items())]
        access = provisioner.grant(
            self,
            "Access",
            statements=hyperpod_access(self, execution_role=execution_role),
        )
        acknowledge(
            access,
            {
                wildcard_finding(self, any_hyperpod_cluster(self)): (
                    "A HyperPod cluster's ARN ends in an id that the service draws at creation."
                )
            },
        )
        resource = provisioner.custom_resource(
            self,
            "Resource",
            resource_type="Custom::HyperPodCluster",
            properties={
                "ClusterName": cluster_name,
                "Request": Stack.of(self).to_json_string(request),
            },
            depends_on=[access, *depends_on],
        )
        self.cluster_name = resource.get_att_string("ClusterName")
        self.cluster_arn = resource.get_att_string("ClusterArn")


def _group_request(
    group: InstanceGroup, *, execution_role: iam.IRole, lifecycle: LifecycleConfig
) -> dict[str, Any]:
    request: dict[str, Any] = {
        "InstanceGroupName": group.name,
        "InstanceType": group.instance_type,
        "InstanceCount": group.instance_count,
        "ExecutionRole": execution_role.role_arn,
        "LifeCycleConfig": {
            "SourceS3Uri": lifecycle.source_s3_uri,
            "OnCreate": lifecycle.on_create,
        },
        "ThreadsPerCore": group.threads_per_core,
        "InstanceStorageConfigs": [{"EbsVolumeConfig": {"VolumeSizeInGB": group.volume_size_gib}}],
    }
    if group.deep_health_checks:
        request["OnStartDeepHealthChecks"] = list(group.deep_health_checks)
    return request
