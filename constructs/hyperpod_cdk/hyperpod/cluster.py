"""The HyperPod cluster."""

from collections.abc import Mapping, Sequence

from aws_cdk import Stack
from aws_cdk import aws_ec2 as ec2
from aws_cdk import aws_iam as iam
from constructs import Construct, IDependable

from hyperpod_cdk.hyperpod.access import access_acknowledgments, hyperpod_access
from hyperpod_cdk.hyperpod.construct_request import create_cluster_request
from hyperpod_cdk.hyperpod.orchestrator import Orchestrator
from hyperpod_cdk.hyperpod.section import ClusterConfig
from hyperpod_cdk.lifecycle_scripts.scripts import LifecycleScripts
from hyperpod_cdk.network.node_subnets import NodeSubnets
from hyperpod_cdk.provisioner.provisioner import Provisioner
from hyperpod_cdk.synthesis.acknowledge import acknowledge
from hyperpod_cdk.synthesis.sizes import refuse_large_policy, refuse_large_request
from hyperpod_cdk.synthesis.template_parameters import in_template


class HyperPodCluster(Construct):
    """A SageMaker HyperPod cluster.

    A custom resource: a failure names the group, the cause and the next step, and fields that
    CloudFormation has not learnt yet can be used. `NativeHyperPodCluster` is CloudFormation's own.

    Args:
        cluster: Name, instance groups, recovery, scaling, and what a deployment waits for. Its
            ARNs, IDs and URIs may be CDK tokens; of a KMS key, the ARN's.
        orchestrator: What runs the jobs, such as `Eks(cluster=...)`.
        provisioner: Makes the calls.
        execution_role: Role of the nodes of groups that name none.
        subnets: Private subnets. Groups that name no zone are in the first one, which cannot change
            after the cluster is created; a group in another zone can be added later.
        security_group: The security group of the nodes.
        lifecycle_scripts: Scripts that nodes run when they are created, for groups that name none.
            Default: the AMI's own setup alone.
        cluster_role: Role that HyperPod assumes to scale the cluster, when the cluster's `role_arn`
            names none. Default: none; `auto_scaling` needs one of the two.
        tags: Tags of the cluster. Default: none.
        depends_on: What must exist first: the Helm release above all. Default: nothing.

    Attributes:
        cluster_name: Name; resolves once the cluster is in service.
        cluster_arn: ARN; it ends in a generated ID, not in the name.
        shortage: Which nodes were missing when the deployment stopped waiting, and why, a line for
            each group; `none` if none was.

    Raises:
        ConfigError: The hardware or the service refuses what the cluster asks for.
        TooLargeError: The cluster or its role's policy is larger than AWS takes.
        ValueError: `auto_scaling` without a role, or a group in a zone without a subnet.
    """

    def __init__(
        self,
        scope: Construct,
        construct_id: str,
        *,
        cluster: ClusterConfig,
        orchestrator: Orchestrator,
        provisioner: Provisioner,
        execution_role: iam.IRole,
        subnets: NodeSubnets,
        security_group: ec2.ISecurityGroup,
        lifecycle_scripts: LifecycleScripts | None = None,
        cluster_role: iam.IRole | None = None,
        tags: Mapping[str, str] | None = None,
        depends_on: Sequence[IDependable] = (),
    ) -> None:
        super().__init__(scope, construct_id)
        cluster, request = create_cluster_request(
            self,
            cluster,
            resource="custom",
            orchestrator=orchestrator,
            execution_role=execution_role,
            subnets=subnets,
            security_group=security_group,
            lifecycle_scripts=lifecycle_scripts,
            cluster_role=cluster_role,
            tags=tags or {},
        )
        refuse_large_request(
            self,
            request,
            noun="the request for the HyperPod cluster",
            to_do="use fewer groups, labels or taints",
        )
        roles = [str(group.execution_role_arn) for group in cluster.all_groups]
        access = provisioner.grant(
            self,
            "Access",
            statements=hyperpod_access(
                self, cluster, execution_role_arns=list(dict.fromkeys(roles))
            ),
        )
        refuse_large_policy(
            access, to_do="let instance groups share subnets, security groups and roles"
        )
        acknowledge(access, access_acknowledgments(self, cluster))
        resource = provisioner.custom_resource(
            self,
            "Resource",
            resource_type="Custom::HyperPodCluster",
            properties={
                "ClusterName": in_template(cluster.name),
                "Request": Stack.of(self).to_json_string(in_template(request)),
                **cluster.to_properties(),
            },
            depends_on=[access, *depends_on],
        )
        self.cluster_name = resource.get_att_string("ClusterName")
        self.cluster_arn = resource.get_att_string("ClusterArn")
        self.shortage = resource.get_att_string("Shortage")
