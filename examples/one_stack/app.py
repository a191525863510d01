"""A HyperPod cluster in one stack, from constructs of `hyperpod_cdk`: a CDK app to start from.

`cdk deploy --app "python examples/one_stack/app.py"`
"""

import sys
from pathlib import Path

import aws_cdk as cdk
from constructs import Construct

from hyperpod_cdk import (
    ClusterConfig,
    ClusterSecurityGroup,
    ConfigError,
    Eks,
    EksAddons,
    EksCluster,
    EksConfig,
    ExecutionRole,
    HelmConfig,
    HyperPodChartError,
    HyperPodCluster,
    HyperPodDependencies,
    InstanceGroupConfig,
    LifecycleBucket,
    LifecycleScripts,
    Network,
    NetworkConfig,
    Provisioner,
    ProvisionerAccess,
)


class MyCluster(cdk.Stack):
    """A network, an EKS control plane and a HyperPod cluster of one GPU node."""

    def __init__(self, scope: Construct, construct_id: str, *, chart: Path) -> None:
        super().__init__(scope, construct_id, env=cdk.Environment(region="us-west-2"))
        network = Network(self, "Network", network=NetworkConfig())
        group = ClusterSecurityGroup(self, "Group", vpc=network.vpc).security_group
        control_plane = EksConfig(version="1.35")
        eks = EksCluster(
            self,
            "Eks",
            cluster_name="mine-eks",
            eks=control_plane,
            vpc=network.vpc,
            subnets=network.eks_subnets,
            security_group=group,
        ).cluster
        EksAddons(self, "Addons", cluster=eks, eks=control_plane, fsx_csi_driver=False)
        provisioner = Provisioner(self, "Provisioner")
        access = ProvisionerAccess(self, "Access", cluster=eks, provisioner=provisioner)
        name = f"sagemaker-mine-{cdk.Aws.ACCOUNT_ID}-{cdk.Aws.REGION}"
        bucket = LifecycleBucket(self, "Bucket", bucket_name=name).bucket
        scripts = LifecycleScripts(self, "Scripts", bucket=bucket, provisioner=provisioner)
        gpu = InstanceGroupConfig(name="gpu", instance_type="ml.g5.xlarge", instance_count=1)
        cluster = ClusterConfig(name="mine", instance_groups=(gpu,))
        nodes = ExecutionRole(
            self,
            "Nodes",
            cluster=cluster,
            orchestrator=Eks(cluster=eks),
            vpc=network.vpc,
            subnets=network.node_subnets,
            security_group=group,
            lifecycle_scripts=scripts,
        )
        dependencies = HyperPodDependencies(
            self,
            "Dependencies",
            cluster=eks,
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
            orchestrator=Eks(cluster=eks),
            provisioner=provisioner,
            execution_role=nodes.role,
            subnets=network.node_subnets,
            security_group=group,
            lifecycle_scripts=scripts,
            # In one stack with the rest: the nodes' way to the internet, and their rights.
            depends_on=[network, access, nodes, dependencies],
        )


if __name__ == "__main__":
    app = cdk.App()
    try:
        MyCluster(app, "MyCluster", chart=Path("build/charts/hyperpod-helm-chart.tgz"))
    except (ConfigError, HyperPodChartError) as error:
        sys.exit(str(error))
    app.synth()
