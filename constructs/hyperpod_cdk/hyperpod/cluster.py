"""The HyperPod cluster: a custom resource, or CloudFormation's own."""

from collections.abc import Mapping, Sequence
from functools import partial
from typing import Any, Required, TypedDict, Unpack

from aws_cdk import CfnResource, Stack
from aws_cdk import aws_ec2 as ec2
from aws_cdk import aws_iam as iam
from constructs import Construct, IDependable

from hyperpod_cdk.hyperpod.access import arn_of, hyperpod_access
from hyperpod_cdk.hyperpod.checks import cluster_findings
from hyperpod_cdk.hyperpod.node_group import ClusterDefaults
from hyperpod_cdk.hyperpod.node_settings import LifecycleConfig
from hyperpod_cdk.hyperpod.orchestrator import Orchestrator, cluster_request
from hyperpod_cdk.hyperpod.section import ClusterConfig
from hyperpod_cdk.lifecycle_scripts.scripts import LifecycleScripts
from hyperpod_cdk.network.subnets import NodeSubnets
from hyperpod_cdk.provisioner.provisioner import Provisioner
from hyperpod_cdk.schema.errors import refuse_errors
from hyperpod_cdk.schema.tags import tag_findings
from hyperpod_cdk.synthesis.refusals import (
    FixedValue,
    refuse_large_policy,
    refuse_large_request,
    report,
)
from hyperpod_cdk.synthesis.template_parameters import in_template
from hyperpod_shared.owner import STACK_TAG


class ClusterArguments(TypedDict, total=False):
    """The arguments of clusters of either kind, as `HyperPodCluster` describes them."""

    cluster: Required[ClusterConfig]
    orchestrator: Required[Orchestrator]
    execution_role: Required[iam.IRole]
    subnets: Required[NodeSubnets]
    security_group: Required[ec2.ISecurityGroup]
    lifecycle_scripts: LifecycleScripts | None
    cluster_role: iam.IRole | None
    tags: Mapping[str, str] | None
    depends_on: Sequence[IDependable]


def _cluster_and_request(
    construct: Construct, *, resource: str, **given: Unpack[ClusterArguments]
) -> tuple[ClusterConfig, dict[str, Any]]:
    """Return a cluster with what it takes from its surroundings, and the request for it.

    The construct gets its findings, and what cannot change; `resource` is the kind that it is.
    """
    cluster, orchestrator, tags = given["cluster"], given["orchestrator"], given.get("tags") or {}
    subnets, group_id = given["subnets"], given["security_group"].security_group_id
    cluster_role = given.get("cluster_role")
    if cluster.orchestrator != orchestrator.name:
        raise ValueError(
            f"{construct.node.path}: cluster.orchestrator is {cluster.orchestrator!r}, and "
            f"{type(orchestrator).__name__} is another one"
        )
    if cluster.resource != resource:
        raise ValueError(
            f"{construct.node.path}: cluster.resource is {cluster.resource!r}, which "
            f"{type(construct).__name__} is not; hyperpod_cluster(...) makes either"
        )
    report(construct, cluster_findings(cluster))
    refuse_errors(
        [finding.under("tags") for finding in tag_findings(tags)], place=construct.node.path
    )
    _fix(construct, cluster)
    if cluster.role_arn is None and cluster_role is not None:
        cluster = cluster.model_copy(update={"role_arn": cluster_role.role_arn})
    if cluster.auto_scaling is not None and cluster.role_arn is None:
        raise ValueError(
            f"{construct.node.path}: auto_scaling {cluster.auto_scaling!r} needs a role; set "
            "cluster.role_arn or pass cluster_role"
        )
    cluster = cluster.filled_in(
        ClusterDefaults(
            execution_role_arn=given["execution_role"].role_arn,
            security_group_id=group_id,
            training_plan_arn=partial(arn_of, construct, "sagemaker", "training-plan"),
            subnet_id_in=partial(_further_subnet_id, subnets),
            mounts=orchestrator.mounts,
            **_from_scripts(construct, given.get("lifecycle_scripts")),
        )
    )
    request = cluster_request(
        cluster,
        orchestrator=orchestrator.to_request(cluster),
        security_group_id=group_id,
        subnet_id=subnets.ids[0],
        tags=tags,
    )
    return cluster, request


def _fix(construct: Construct, cluster: ClusterConfig) -> None:
    """Let CloudFormation refuse another name, and another kind of resource."""
    again = "destroy the HyperPod stack and deploy it again"
    FixedValue(
        construct,
        "Name",
        key=("cluster", "name"),
        value=cluster.name,
        # https://docs.aws.amazon.com/sagemaker/latest/dg/sagemaker-hyperpod-eks.html
        reason="an EKS cluster takes one HyperPod cluster, so another cannot replace it",
        instead=again,
    )
    FixedValue(
        construct,
        "Kind",
        key=("cluster", "resource"),
        value=cluster.resource,
        reason="a resource of one type cannot become one of another",
        instead=again,
    )
    for where, group in cluster.instance_groups_with_paths():
        if group.slurm is not None:
            FixedValue(
                construct,
                f"NodeType:{group.name}",
                key=(*where, "slurm", "node_type"),
                value=group.slurm.node_type,
                # https://docs.aws.amazon.com/sagemaker/latest/dg/sagemaker-hyperpod-ref.html
                reason="the nodes of a group stay of one type",
                instead="add a group of another name, and remove this one",
            )


def _further_subnet_id(subnets: NodeSubnets, zone: str) -> str | None:
    subnet = subnets.in_zone(zone)
    return None if subnet is subnets.subnets[0] else subnet.subnet_id


def _from_scripts(construct: Construct, scripts: LifecycleScripts | None) -> dict[str, Any]:
    """Return what groups take from the scripts, which come before them; nothing without any."""
    if scripts is None:
        return {}
    construct.node.add_dependency(scripts)
    return {
        "lifecycle": (
            LifecycleConfig(source_s3_uri=scripts.s3_uri, **scripts.lifecycle)
            if scripts.lifecycle
            else None
        ),
        "lifecycle_in": lambda own: LifecycleConfig(
            source_s3_uri=scripts.s3_uri_of(own), **scripts.lifecycle_of(own)
        ),
    }


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
        provisioner: Provisioner,
        **given: Unpack[ClusterArguments],
    ) -> None:
        super().__init__(scope, construct_id)
        cluster, request = _cluster_and_request(self, resource="custom", **given)
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
        resource = provisioner.custom_resource(
            self,
            "Resource",
            resource_type="Custom::HyperPodCluster",
            properties={
                "ClusterName": in_template(cluster.name),
                "Request": Stack.of(self).to_json_string(in_template(request)),
                **cluster.to_properties(),
            },
            depends_on=[access, *given.get("depends_on", ())],
        )
        self.cluster_name = resource.get_att_string("ClusterName")
        self.cluster_arn = resource.get_att_string("ClusterArn")
        self.shortage = resource.get_att_string("Shortage")


class NativeHyperPodCluster(Construct):
    """A SageMaker HyperPod cluster that CloudFormation's own type makes.

    `AWS::SageMaker::Cluster` calls HyperPod with the rights of its caller, waits for up to 12
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
        **given: Unpack[ClusterArguments],
    ) -> None:
        super().__init__(scope, construct_id)
        cluster, request = _cluster_and_request(self, resource="native", **given)
        FixedValue(
            self,
            "ProvisioningMode",
            key=("cluster", "node_provisioning_mode"),
            value=cluster.node_provisioning_mode,
            # UpdateCluster and the type have the member, and no page of AWS says whether a cluster
            # that exists takes another mode; it was not tried on AWS.
            reason="AWS documents no change of the mode of a cluster that exists",
            instead="destroy the HyperPod stack and deploy it again",
        )
        # Policies of deployers know the cluster by it; whether HyperPod takes CloudFormation's own
        # tags is not known.
        own = {"Key": STACK_TAG, "Value": Stack.of(self).stack_id}
        # `CfnCluster` would need every member in camel case.
        resource = CfnResource(
            self,
            "Resource",
            type="AWS::SageMaker::Cluster",
            properties=in_template({**request, "Tags": [*request.get("Tags", ()), own]}),
        )
        resource.node.add_dependency(*given.get("depends_on", ()))
        self.cluster_name: str = in_template(cluster.name)
        self.cluster_arn = resource.get_att("ClusterArn").to_string()
        self.shortage: str | None = None


def hyperpod_cluster(
    scope: Construct,
    construct_id: str,
    *,
    provisioner: Provisioner,
    **given: Unpack[ClusterArguments],
) -> HyperPodCluster | NativeHyperPodCluster:
    """Return the cluster, made by the resource that its `resource` names.

    The arguments are those of `HyperPodCluster`.
    """
    if given["cluster"].resource == "native":
        return NativeHyperPodCluster(scope, construct_id, **given)
    return HyperPodCluster(scope, construct_id, provisioner=provisioner, **given)
