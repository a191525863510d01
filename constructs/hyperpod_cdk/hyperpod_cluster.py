"""The HyperPod cluster."""

from collections.abc import Mapping, Sequence

from aws_cdk import Stack
from aws_cdk import aws_ec2 as ec2
from aws_cdk import aws_eks_v2 as eks
from aws_cdk import aws_iam as iam
from constructs import Construct, IDependable

from hyperpod_cdk.acknowledge import acknowledge
from hyperpod_cdk.cluster_request import TieredStorage, cluster_request
from hyperpod_cdk.hyperpod_access import access_findings, hyperpod_access
from hyperpod_cdk.hyperpod_upkeep_access import upkeep_access, upkeep_findings
from hyperpod_cdk.hyperpod_waiting import Waiting
from hyperpod_cdk.instance_group import InstanceGroup, VpcConfig
from hyperpod_cdk.policy_size import refuse_large_policy
from hyperpod_cdk.provisioner import Provisioner
from hyperpod_cdk.request_size import refuse_large_request
from hyperpod_cdk.restricted_instance_group import RestrictedInstanceGroup, SharedEnvironment


class HyperPodCluster(Construct):
    """A SageMaker HyperPod cluster orchestrated by EKS.

    A custom resource and not `AWS::SageMaker::Cluster`: a failure then names the group, the cause
    and the next step, and fields that CloudFormation has not learnt yet can be used.

    Args:
        cluster_name: 1 to 63 letters, digits and inner hyphens.
        eks_cluster: The orchestrator.
        provisioner: Makes the calls.
        execution_role: Role of the nodes of groups that have none of their own.
        subnets: Private subnets; HyperPod puts all groups without a VPC configuration of their own
            into one of them.
        security_group: Of the nodes.
        instance_groups: 1 to 100.
        restricted_instance_groups: Groups for training such models as Amazon Nova. Default: none.
        shared_environment: What the restricted groups share. Default: nothing.
        node_recovery: `Automatic` reboots or replaces faulty nodes; `None` does not.
        node_provisioning_mode: `Continuous` starts with the nodes there are and goes on trying for
            the rest; None waits for all or fails.
        tiered_storage: Managed tiered checkpointing. Default: none.
        auto_scaling: `Karpenter` adds and removes nodes as pods need them; needs `cluster_role`
            and continuous provisioning. Default: none.
        cluster_role: Role that HyperPod assumes to scale the cluster. Default: none.
        waiting: What a deployment waits for, and what becomes of a failed one.
        tags: Tags of the cluster. Default: none.
        depends_on: What must be there first: the Helm release above all.

    Attributes:
        cluster_name: Name; resolves once the cluster is in service.
        cluster_arn: ARN; it ends in a generated id, not in the name.
        shortage: What was missing when the deployment stopped waiting; `none` if nothing was.

    Raises:
        ValueError: `auto_scaling` without `cluster_role`.
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
        instance_groups: Sequence[InstanceGroup],
        restricted_instance_groups: Sequence[RestrictedInstanceGroup] = (),
        shared_environment: SharedEnvironment | None = None,
        node_recovery: str = "Automatic",
        node_provisioning_mode: str | None = "Continuous",
        tiered_storage: TieredStorage | None = None,
        auto_scaling: str | None = None,
        cluster_role: iam.IRole | None = None,
        waiting: Waiting | None = None,
        tags: Mapping[str, str] | None = None,
        depends_on: Sequence[IDependable] = (),
    ) -> None:
        super().__init__(scope, construct_id)
        if auto_scaling is not None and cluster_role is None:
            raise ValueError(f"auto_scaling {auto_scaling!r} needs a cluster_role")
        request = cluster_request(
            cluster_name=cluster_name,
            eks_cluster_arn=eks_cluster.cluster_arn,
            execution_role_arn=execution_role.role_arn,
            vpc=VpcConfig(
                subnet_ids=[subnet.subnet_id for subnet in subnets],
                security_group_ids=[security_group.security_group_id],
            ),
            instance_groups=instance_groups,
            restricted_instance_groups=restricted_instance_groups,
            shared_environment=shared_environment,
            node_recovery=node_recovery,
            node_provisioning_mode=node_provisioning_mode,
            tiered_storage=tiered_storage,
            auto_scaling=auto_scaling,
            cluster_role_arn=None if cluster_role is None else cluster_role.role_arn,
            tags=tags,
        )
        waiting = waiting if waiting is not None else Waiting()
        consent = waiting.delete_task_governance
        refuse_large_request(self, request)
        access = provisioner.grant(
            self,
            "Access",
            statements=[
                *hyperpod_access(self, request),
                *upkeep_access(self, delete_task_governance=consent),
            ],
        )
        refuse_large_policy(
            access, to_do="let instance groups share subnets, security groups and roles"
        )
        acknowledge(access, upkeep_findings(self, delete_task_governance=consent))
        acknowledge(access, access_findings(self, request))
        resource = provisioner.custom_resource(
            self,
            "Resource",
            resource_type="Custom::HyperPodCluster",
            properties={
                "ClusterName": cluster_name,
                "Request": Stack.of(self).to_json_string(request),
                **waiting.properties,
            },
            depends_on=[access, *depends_on],
        )
        self.cluster_name = resource.get_att_string("ClusterName")
        self.cluster_arn = resource.get_att_string("ClusterArn")
        self.shortage = resource.get_att_string("Shortage")
