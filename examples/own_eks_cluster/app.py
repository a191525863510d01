"""HyperPod on an EKS cluster and a VPC of your own: a CDK app to start from.

`cdk deploy --all --app "python examples/own_eks_cluster/app.py"`
"""

import sys
from pathlib import Path
from typing import cast

import aws_cdk as cdk
from aws_cdk import aws_ec2 as ec2
from aws_cdk import aws_eks_v2 as eks
from constructs import Construct

from hyperpod_cdk import (
    ClusterConfig,
    ClusterSecurityGroup,
    ConfigError,
    Eks,
    EksAddons,
    EksConfig,
    ExecutionRole,
    HelmConfig,
    HyperPodChartError,
    HyperPodCluster,
    HyperPodDependencies,
    InstanceGroupConfig,
    LifecycleBucket,
    LifecycleScripts,
    NodeSubnets,
    Provisioner,
    ProvisionerAccess,
)

CONTROL_PLANE = EksConfig(version="1.35")


class Kubernetes(cdk.Stack):
    """What you may have already: a VPC, and an EKS cluster that knows access entries."""

    def __init__(self, scope: Construct, construct_id: str, *, env: cdk.Environment) -> None:
        super().__init__(scope, construct_id, env=env)
        self.vpc = ec2.Vpc(
            self, "Vpc", max_azs=2, nat_gateways=1, restrict_default_security_group=False
        )
        self.group = ClusterSecurityGroup(self, "Group", vpc=self.vpc).security_group
        cluster = eks.Cluster(
            self,
            "Eks",
            cluster_name="mine-eks",
            version=eks.KubernetesVersion.of(CONTROL_PLANE.version),
            vpc=self.vpc,
            vpc_subnets=[ec2.SubnetSelection(subnet_type=ec2.SubnetType.PRIVATE_WITH_EGRESS)],
            security_group=self.group,
            default_capacity_type=eks.DefaultCapacityType.NODEGROUP,
            default_capacity=0,
            # Else EKS installs add-ons of its own, with which those below may conflict.
            bootstrap_self_managed_addons=False,
        )
        # For mypy: jsii leaves the interface's optional members out of the class.
        self.cluster = cast("eks.ICluster", cluster)
        for addon in ("vpc-cni", "kube-proxy", "eks-pod-identity-agent"):
            eks.Addon(self, addon, cluster=self.cluster, addon_name=addon)


class HyperPod(cdk.Stack):
    """HyperPod on it: one GPU node in a private subnet of the VPC."""

    def __init__(
        self,
        scope: Construct,
        construct_id: str,
        *,
        env: cdk.Environment,
        kubernetes: Kubernetes,
        chart: Path,
    ) -> None:
        super().__init__(scope, construct_id, env=env)
        # CoreDNS: it waits for the nodes, so nothing waits for it.
        EksAddons(
            self, "Addons", cluster=kubernetes.cluster, eks=CONTROL_PLANE, fsx_csi_driver=False
        )
        provisioner = Provisioner(self, "Provisioner")
        access = ProvisionerAccess(
            self, "Access", cluster=kubernetes.cluster, provisioner=provisioner
        )
        # HyperPod reads buckets whose names begin with "sagemaker-".
        name = f"sagemaker-mine-{cdk.Aws.ACCOUNT_ID}-{cdk.Aws.REGION}"
        bucket = LifecycleBucket(self, "Bucket", bucket_name=name).bucket
        scripts = LifecycleScripts(self, "Scripts", bucket=bucket, provisioner=provisioner)
        gpu = InstanceGroupConfig(name="gpu", instance_type="ml.g5.xlarge", instance_count=1)
        cluster = ClusterConfig(name="mine", instance_groups=(gpu,))
        subnets = NodeSubnets(subnets=kubernetes.vpc.private_subnets[:1])
        orchestrator = Eks(cluster=kubernetes.cluster)
        nodes = ExecutionRole(
            self,
            "Nodes",
            cluster=cluster,
            orchestrator=orchestrator,
            vpc=kubernetes.vpc,
            subnets=subnets,
            security_group=kubernetes.group,
            lifecycle_scripts=scripts,
        )
        dependencies = HyperPodDependencies(
            self,
            "Dependencies",
            cluster=kubernetes.cluster,
            provisioner=provisioner,
            chart=chart,
            helm=HelmConfig(),
            instance_types=cluster.instance_types,
        )
        dependencies.node.add_dependency(access)  # its right to install
        HyperPodCluster(
            self,
            "Cluster",
            cluster=cluster,
            orchestrator=orchestrator,
            provisioner=provisioner,
            execution_role=nodes.role,
            subnets=subnets,
            security_group=kubernetes.group,
            lifecycle_scripts=scripts,
            depends_on=[access, nodes, dependencies],
        )


def add_stacks(app: cdk.App, *, chart: Path) -> None:
    """Add both stacks to an app.

    Args:
        app: The app.
        chart: Chart of the HyperPod dependencies.
    """
    env = cdk.Environment(region="us-west-2")
    kubernetes = Kubernetes(app, "Kubernetes", env=env)
    HyperPod(app, "HyperPod", env=env, kubernetes=kubernetes, chart=chart)


if __name__ == "__main__":
    app = cdk.App()
    try:
        add_stacks(app, chart=Path("build/charts/hyperpod-helm-chart.tgz"))
    except (ConfigError, HyperPodChartError) as error:
        sys.exit(str(error))
    app.synth()
