"""A Helm release on an EKS cluster that exists: a CDK app to start from.

`cdk deploy --app "python examples/helm_release/app.py" -c eks_cluster_name=mine-eks`
"""

import sys
from pathlib import Path

import aws_cdk as cdk
from aws_cdk import aws_eks_v2 as eks
from constructs import Construct

from hyperpod_cdk import HelmRelease, Provisioner, ProvisionerAccess


class MyRelease(cdk.Stack):
    """One chart, installed by Helm in a Lambda function: no node or pipeline needs kubectl."""

    def __init__(
        self, scope: Construct, construct_id: str, *, eks_cluster_name: str, chart: Path
    ) -> None:
        super().__init__(scope, construct_id, env=cdk.Environment(region="us-west-2"))
        cluster = eks.Cluster.from_cluster_attributes(self, "Eks", cluster_name=eks_cluster_name)
        provisioner = Provisioner(self, "Provisioner")
        access = ProvisionerAccess(self, "Access", cluster=cluster, provisioner=provisioner)
        release = HelmRelease(
            self,
            "Release",
            cluster=cluster,
            provisioner=provisioner,
            chart=chart,
            release="priorities",
            namespace="kube-system",
            values={"classes": [{"name": "nightly", "value": 100}]},
        )
        release.node.add_dependency(access)  # its right to install


if __name__ == "__main__":
    app = cdk.App()
    name = app.node.try_get_context("eks_cluster_name")
    if name is None:
        sys.exit("eks_cluster_name: is missing; add -c eks_cluster_name=NAME to the command of cdk")
    MyRelease(
        app,
        "MyRelease",
        eks_cluster_name=name,
        chart=Path("charts/priority-classes"),
    )
    app.synth()
