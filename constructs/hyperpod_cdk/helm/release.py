"""A Helm release on the EKS cluster."""

import json
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

from aws_cdk import Duration
from aws_cdk import aws_eks_v2 as eks
from aws_cdk import aws_s3_assets as s3_assets
from constructs import Construct, IDependable

from hyperpod_cdk.helm.names import NAMESPACE, RELEASE_NAME
from hyperpod_cdk.provisioner.provisioner import Provisioner, ask_for_stack
from hyperpod_cdk.schema.errors import refuse_errors
from hyperpod_cdk.synthesis.refusals import refuse_large_request
from hyperpod_cdk.synthesis.template_parameters import json_in_template


class HelmRelease(Construct):
    """A Helm release, installed and upgraded from a chart that is shipped as an asset.

    Nothing is fetched from a chart repository at deploy time. A changed chart or value is an
    upgrade, an unchanged one does nothing. A failed upgrade is rolled back at once. The chart's
    word counts for every field that it sets, and its `crds/` are upgraded too.

    Deleting it uninstalls the release, and the namespaces and CustomResourceDefinitions among its
    templates with everything in them; where users have something there, that is refused. The
    definitions of `crds/` stay.

    Args:
        cluster: The EKS cluster.
        provisioner: Runs helm; needs `ProvisionerAccess` to the cluster.
        chart: A packaged chart (`.tgz`) or a chart directory.
        release: Release name, up to 53 characters, such as `my-release`.
        namespace: Its namespace.
        values: Values, merged over the chart's own; null removes one. Texts may hold CDK tokens.
            Default: none.
        adopt_namespaces: Namespaces among the templates that may exist before the release, as long
            as they belong to no other; it takes them over, to the end. Definitions need no leave.
            Default: none.
        delete_user_objects: Whether users' objects go with the release's namespaces and
            definitions. Default: no, deleting is refused while there are any.
        wait_for_ready: How long an update waits for the workloads, if there are nodes; a release is
            installed before. Default: not at all.
        depends_on: What else the release needs. Default: nothing.

    Attributes:
        chart: Name and version of the installed chart; resolves once it is installed.
        release: Its name.
        namespace: Its namespace.

    Raises:
        ConfigError: Helm would refuse the name of the release, or Kubernetes that of the namespace.
        TooLargeError: The values are too large to reach the provisioner.
        ValueError: The chart is neither a directory nor a `.tgz` file.
    """

    def __init__(
        self,
        scope: Construct,
        construct_id: str,
        *,
        cluster: eks.ICluster,
        provisioner: Provisioner,
        chart: Path,
        release: str,
        namespace: str,
        values: Mapping[str, Any] | None = None,
        adopt_namespaces: Sequence[str] = (),
        delete_user_objects: bool = False,
        wait_for_ready: Duration | None = None,
        depends_on: Sequence[IDependable] = (),
    ) -> None:
        super().__init__(scope, construct_id)
        if not chart.is_dir() and not (chart.is_file() and chart.suffix == ".tgz"):
            raise ValueError(f"chart {chart} is neither a chart directory nor a .tgz file")
        refuse_errors(
            [
                *(finding.under("release") for finding in RELEASE_NAME.findings(release)),
                *(finding.under("namespace") for finding in NAMESPACE.findings(namespace)),
            ],
            place=self.node.path,
        )
        refuse_large_request(
            self,
            dict(values or {}),
            noun=f"what helm.values and components make of the release {release}",
            to_do="leave out what the chart has as its default, or put it into a chart of your own",
        )
        # Bytecode of a chart's Python files, which a test may leave there, would be an upgrade.
        asset = s3_assets.Asset(self, "Chart", path=str(chart), exclude=["**/__pycache__"])
        access = provisioner.grant(
            self,
            "Access",
            statements=[provisioner.read_asset(asset), ask_for_stack(self)],
        )
        resource = provisioner.custom_resource(
            self,
            "Resource",
            resource_type="Custom::HelmRelease",
            properties={
                "ClusterName": cluster.cluster_name,
                "Release": release,
                "Namespace": namespace,
                "ChartBucket": asset.s3_bucket_name,
                "ChartKey": asset.s3_object_key,
                "ChartDigest": asset.asset_hash,
                # Not `Stack.to_json_string`: it drops nulls, with which Helm removes a default.
                "Values": json_in_template(dict(values or {})),
                "AdoptNamespaces": json.dumps(list(adopt_namespaces)),
                "DeleteUserObjects": json.dumps(delete_user_objects),
                "WaitForReadyMinutes": str(
                    int(wait_for_ready.to_minutes()) if wait_for_ready is not None else 0
                ),
            },
            depends_on=[access, *depends_on],
        )
        self.release = release
        self.namespace = namespace
        self.chart = resource.get_att_string("Chart")
