"""The CreateCluster request of a construct, whichever resource makes the cluster."""

from collections.abc import Callable, Mapping
from typing import Any

from aws_cdk import aws_ec2 as ec2
from aws_cdk import aws_iam as iam
from constructs import Construct

from hyperpod_cdk.hyperpod.checks import cluster_findings
from hyperpod_cdk.hyperpod.cluster_request import cluster_request
from hyperpod_cdk.hyperpod.lifecycle import LifecycleConfig
from hyperpod_cdk.hyperpod.node_group import ClusterDefaults
from hyperpod_cdk.hyperpod.orchestrator import Orchestrator
from hyperpod_cdk.hyperpod.section import ClusterConfig
from hyperpod_cdk.lifecycle_scripts.own_scripts import ENTRY_SCRIPT, OwnScriptsConfig
from hyperpod_cdk.lifecycle_scripts.scripts import LifecycleScripts
from hyperpod_cdk.network.node_subnets import NodeSubnets
from hyperpod_cdk.synthesis.findings import report
from hyperpod_cdk.synthesis.fixed_value import FixedValue


def create_cluster_request(
    construct: Construct,
    cluster: ClusterConfig,
    *,
    resource: str,
    orchestrator: Orchestrator,
    execution_role: iam.IRole,
    subnets: NodeSubnets,
    security_group: ec2.ISecurityGroup,
    lifecycle_scripts: LifecycleScripts | None,
    cluster_role: iam.IRole | None,
    tags: Mapping[str, str],
) -> tuple[ClusterConfig, dict[str, Any]]:
    """Return a cluster with what it takes from its surroundings, and the request for it.

    Args:
        construct: The construct of the cluster; gets its findings, and what cannot change.
        cluster: The section.
        resource: Which kind of resource the construct is, as in the section.
        orchestrator: What runs the jobs.
        execution_role: Role of the nodes of groups that name none.
        subnets: Private subnets.
        security_group: The security group of the nodes.
        lifecycle_scripts: Scripts for groups that name none.
        cluster_role: Role for autoscaling, when the section names none.
        tags: Tags of the cluster.

    Raises:
        ConfigError: The hardware or the service refuses what the cluster asks for.
        ValueError: The section asks for another kind of resource, `auto_scaling` lacks a role, or a
            group is in a zone without a subnet.
    """
    if cluster.resource != resource:
        raise ValueError(
            f"{construct.node.path}: cluster.resource is {cluster.resource!r}, which "
            f"{type(construct).__name__} is not; hyperpod_cluster(...) gives the class"
        )
    report(construct, cluster_findings(cluster))
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
            execution_role_arn=execution_role.role_arn,
            security_group_id=security_group.security_group_id,
            subnet_id_in=lambda zone: _further_subnet_id(subnets, zone),
            lifecycle=_lifecycle(lifecycle_scripts),
            lifecycle_in=None if lifecycle_scripts is None else _lifecycle_in(lifecycle_scripts),
        )
    )
    request = cluster_request(
        cluster,
        orchestrator=orchestrator.to_request(),
        security_group_id=security_group.security_group_id,
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


def _further_subnet_id(subnets: NodeSubnets, zone: str) -> str | None:
    subnet = subnets.in_zone(zone)
    return None if subnet is subnets.subnets[0] else subnet.subnet_id


def _lifecycle(scripts: LifecycleScripts | None) -> LifecycleConfig | None:
    if scripts is None:
        return None
    return LifecycleConfig(source_s3_uri=scripts.s3_uri, on_create=scripts.on_create)


def _lifecycle_in(scripts: LifecycleScripts) -> Callable[[OwnScriptsConfig], LifecycleConfig]:
    return lambda own: LifecycleConfig(source_s3_uri=scripts.s3_uri_of(own), on_create=ENTRY_SCRIPT)
