"""A stack, and what the constructs under test are given in it."""

from collections.abc import Callable
from pathlib import Path
from typing import Any

import aws_cdk as cdk
import pytest
from aws_cdk import aws_ec2 as ec2
from aws_cdk import aws_eks_v2 as eks
from aws_cdk import aws_iam as iam
from aws_cdk import aws_s3 as s3
from aws_cdk.assertions import Template

from hyperpod_cdk import Eks, LifecycleScripts, NodeSubnets, Provisioner
from hyperpod_cdk.lifecycle_scripts.folder import ScriptFolder
from tests.support.assembly import new_app
from tests.support.template_view import TemplateView

VPC_ID = "vpc-0123456789abcdef0"
SUBNET_IDS = ("subnet-0123456789abcdef0", "subnet-0123456789abcdef1")
ZONE_IDS = ("usw2-az1", "usw2-az2")
SECURITY_GROUP_ID = "sg-0123456789abcdef0"

View = Callable[[], TemplateView]


@pytest.fixture
def stack(tmp_path_factory: pytest.TempPathFactory) -> cdk.Stack:
    # Whole templates are validated, in tests/nag.
    app = new_app(tmp_path_factory.mktemp("stack"))
    return cdk.Stack(app, "Stack", env=cdk.Environment(region="us-west-2"))


@pytest.fixture
def template(stack: cdk.Stack) -> Callable[[], Template]:
    """Return a function to call once everything is in the stack."""
    return lambda: Template.from_stack(stack)


@pytest.fixture
def view(template: Callable[[], Template]) -> View:
    """Return a function to call once everything is in the stack."""
    return lambda: TemplateView(template().to_json())


@pytest.fixture
def vpc(stack: cdk.Stack) -> ec2.IVpc:
    return ec2.Vpc.from_vpc_attributes(
        stack, "AVpc", vpc_id=VPC_ID, availability_zones=["us-west-2a", "us-west-2b"]
    )


@pytest.fixture
def subnets(stack: cdk.Stack) -> list[ec2.ISubnet]:
    return [
        ec2.Subnet.from_subnet_attributes(stack, f"A{name}", subnet_id=name, route_table_id="rtb-1")
        for name in SUBNET_IDS
    ]


@pytest.fixture
def node_subnets(subnets: list[ec2.ISubnet]) -> NodeSubnets:
    return NodeSubnets(subnets=subnets, zone_ids=ZONE_IDS)


@pytest.fixture
def security_group(stack: cdk.Stack) -> ec2.ISecurityGroup:
    return ec2.SecurityGroup.from_security_group_id(stack, "ASecurityGroup", SECURITY_GROUP_ID)


@pytest.fixture
def eks_cluster(stack: cdk.Stack, vpc: ec2.IVpc) -> eks.ICluster:
    return eks.Cluster.from_cluster_attributes(stack, "AnEks", cluster_name="eks", vpc=vpc)


@pytest.fixture
def bucket(stack: cdk.Stack) -> s3.IBucket:
    return s3.Bucket.from_bucket_name(stack, "ABucket", "sagemaker-bucket")


@pytest.fixture
def provisioner(stack: cdk.Stack) -> Provisioner:
    return Provisioner(stack, "Provisioner")


@pytest.fixture
def lifecycle_scripts(
    stack: cdk.Stack, bucket: s3.IBucket, provisioner: Provisioner, tmp_path: Path
) -> LifecycleScripts:
    for name in ("on_create.sh", "lib/log.sh"):
        path = tmp_path / "scripts" / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text("#!/bin/bash\n")
    return LifecycleScripts(
        stack,
        "Scripts",
        bucket=bucket,
        provisioner=provisioner,
        project=ScriptFolder(directory=tmp_path / "scripts"),
    )


@pytest.fixture
def cluster_arguments(
    *,
    stack: cdk.Stack,
    eks_cluster: eks.ICluster,
    node_subnets: NodeSubnets,
    security_group: ec2.ISecurityGroup,
    lifecycle_scripts: LifecycleScripts,
) -> dict[str, Any]:
    """Return what a HyperPod cluster of either kind takes besides its section."""
    principal = iam.ServicePrincipal("sagemaker.amazonaws.com")
    return {
        "orchestrator": Eks(cluster=eks_cluster),
        "execution_role": iam.Role(stack, "NodeRole", assumed_by=principal),
        "subnets": node_subnets,
        "security_group": security_group,
        "lifecycle_scripts": lifecycle_scripts,
    }
