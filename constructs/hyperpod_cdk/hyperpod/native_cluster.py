"""The HyperPod cluster as a resource of CloudFormation's own."""

from collections.abc import Mapping, Sequence

from aws_cdk import CfnResource
from aws_cdk import aws_ec2 as ec2
from aws_cdk import aws_iam as iam
from constructs import Construct, IDependable

from hyperpod_cdk.hyperpod.construct_request import create_cluster_request
from hyperpod_cdk.hyperpod.orchestrator import Orchestrator
from hyperpod_cdk.hyperpod.section import ClusterConfig
from hyperpod_cdk.lifecycle_scripts.scripts import LifecycleScripts
from hyperpod_cdk.network.node_subnets import NodeSubnets
from hyperpod_cdk.synthesis.fixed_value import FixedValue
from hyperpod_cdk.synthesis.template_parameters import in_template


class NativeHyperPodCluster(Construct):
    """A SageMaker HyperPod cluster that CloudFormation's own type makes.

    `AWS::SageMaker::Cluster` calls HyperPod with the rights of whoever deploys, waits for up to 12
    hours, detects drift, and takes most fields of the API; `HyperPodCluster` takes all, and reports
    nodes that are missing. Its properties have the names of CreateCluster's members.

    Args:
        cluster: Name, instance groups and recovery; `resource` is `native`. Its ARNs, IDs and URIs
            may be CDK tokens.
        orchestrator: What runs the jobs, such as `Eks(cluster=...)`.
        execution_role: Role of the nodes of groups that name none.
        subnets: Private subnets. Groups that name no zone are in the first one, which cannot change
            after the cluster is created; a group in another zone can be added later.
        security_group: The security group of the nodes.
        lifecycle_scripts: Scripts that nodes run when they are created, for groups that name none.
            Default: the AMI's own setup alone.
        cluster_role: As of `HyperPodCluster`; autoscaling, which needs it, is refused here.
        tags: Tags of the cluster. Default: none.
        depends_on: What must exist first: the Helm release above all. Default: nothing.

    Attributes:
        cluster_name: Name, as configured.
        cluster_arn: ARN; it ends in a generated ID, not in the name.
        shortage: None: CloudFormation does not look at nodes.

    Raises:
        ConfigError: The hardware, the service or the type refuses what the cluster asks for.
        ValueError: `resource` is not `native`, or a group is in a zone without a subnet.
    """

    def __init__(
        self,
        scope: Construct,
        construct_id: str,
        *,
        cluster: ClusterConfig,
        orchestrator: Orchestrator,
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
            resource="native",
            orchestrator=orchestrator,
            execution_role=execution_role,
            subnets=subnets,
            security_group=security_group,
            lifecycle_scripts=lifecycle_scripts,
            cluster_role=cluster_role,
            tags=tags or {},
        )
        FixedValue(
            self,
            "ProvisioningMode",
            key=("cluster", "node_provisioning_mode"),
            value=cluster.node_provisioning_mode,
            # UpdateCluster has no such member.
            reason="HyperPod sets it when the cluster is created",
            instead="destroy the HyperPod stack and deploy it again",
        )
        # `CfnCluster` would need every member in camel case.
        resource = CfnResource(
            self, "Resource", type="AWS::SageMaker::Cluster", properties=in_template(request)
        )
        resource.node.add_dependency(*depends_on)
        self.cluster_name: str = in_template(cluster.name)
        self.cluster_arn = resource.get_att("ClusterArn").to_string()
        self.shortage: str | None = None
