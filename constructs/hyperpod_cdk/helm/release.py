"""Helm releases on the EKS cluster, and the check with which the deletion of a stack begins."""

import json
from collections.abc import Mapping, Sequence
from glob import glob
from pathlib import Path
from typing import Any

from aws_cdk import Duration
from aws_cdk import aws_eks_v2 as eks
from aws_cdk import aws_s3_assets as s3_assets
from constructs import Construct, IDependable
from pydantic import TypeAdapter

from hyperpod_cdk.helm.priority_class_section import DEFAULT_PRIORITY_CLASSES, PriorityClassConfig
from hyperpod_cdk.helm.section import Namespace, ReleaseName
from hyperpod_cdk.provisioner.provisioner import Provisioner
from hyperpod_cdk.schema.errors import refuse_errors
from hyperpod_cdk.schema.section import findings_in
from hyperpod_cdk.synthesis.assets import asset_directory
from hyperpod_cdk.synthesis.refusals import refuse_large_request
from hyperpod_cdk.synthesis.template_parameters import json_in_template
from hyperpod_shared.content import content_digest

# Of a chart's Python files, which a test may leave there: it would be an upgrade.
_BYTECODE = "__pycache__"


class HelmRelease(Construct):
    """A Helm release, installed and upgraded from a chart that is shipped as an asset.

    Nothing is fetched from a chart repository at deploy time. A changed chart or value is an
    upgrade, an unchanged one does nothing. A failed upgrade is rolled back at once. The chart's
    word counts for every field that it sets, and its `crds/` are upgraded too.

    Deleting it uninstalls the release, and the namespaces and CustomResourceDefinitions among its
    templates and everything in them; where users have something there, that is refused. The
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
        needs_definitions: Names of CustomResourceDefinitions that another release or add-on brings,
            and that are waited for. Where they are gone, so are the objects of the release.
            Default: none.
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
        needs_definitions: Sequence[str] = (),
        depends_on: Sequence[IDependable] = (),
    ) -> None:
        super().__init__(scope, construct_id)
        if not chart.is_dir() and not (chart.is_file() and chart.suffix == ".tgz"):
            raise ValueError(f"chart {chart} is neither a chart directory nor a .tgz file")
        refuse_errors(
            [
                *findings_in(release, of=TypeAdapter(ReleaseName), key="release"),
                *findings_in(namespace, of=TypeAdapter(Namespace), key="namespace"),
            ],
            place=self.node.path,
        )
        refuse_large_request(
            self,
            dict(values or {}),
            noun=f"what helm.values and components make of the release {release}",
            to_do="leave out what the chart has as its default, or put it into a chart of your own",
        )
        asset = s3_assets.Asset(self, "Chart", path=str(chart), exclude=[f"**/{_BYTECODE}"])
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
                "ChartDigest": chart_digest(chart),
                # Not `Stack.to_json_string`: it drops nulls, with which Helm removes a default.
                "Values": json_in_template(dict(values or {})),
                "AdoptNamespaces": json.dumps(list(adopt_namespaces)),
                "DeleteUserObjects": json.dumps(delete_user_objects),
                "WaitForReadyMinutes": str(
                    int(wait_for_ready.to_minutes()) if wait_for_ready is not None else 0
                ),
                **(
                    {"NeedsDefinitions": json.dumps(list(needs_definitions))}
                    if needs_definitions
                    else {}
                ),
            },
            statements=[provisioner.read_asset(asset)],
            depends_on=depends_on,
        )
        self.release = release
        self.namespace = namespace
        self.chart = resource.get_att_string("Chart")


def chart_digest(chart: Path) -> str:
    """Return the digest of what the asset of a chart holds."""
    if chart.is_file():
        return content_digest([""], read=lambda _: chart.read_bytes())
    # As the CDK CLI zips a folder: also what is behind links, which Path.glob leaves out.
    found = glob("**", root_dir=chart, recursive=True, include_hidden=True)  # noqa: PTH207
    files = [path for path in found if (chart / path).is_file() and _BYTECODE not in path]
    return content_digest(files, read=lambda path: (chart / path).read_bytes())


class PriorityClasses(Construct):
    """PriorityClasses, installed as a Helm release of their own.

    Kubernetes never changes the value or the preemption policy of a class: such an update is
    refused before anything is changed. Give the class another name, or remove it in one deployment
    and add it again in the next; running pods keep the priority they started with.

    Args:
        cluster: The EKS cluster.
        provisioner: Runs helm; needs `ProvisionerAccess` to the cluster.
        classes: At least one, each name once, at most one global default. Default: `inference`,
            `training` and `best-effort`.
        release: Release name. Default: `hyperpod-priority-classes`.
        namespace: Namespace of the release; the classes themselves have none. Default:
            `kube-system`.
    """

    def __init__(
        self,
        scope: Construct,
        construct_id: str,
        *,
        cluster: eks.ICluster,
        provisioner: Provisioner,
        classes: Sequence[PriorityClassConfig] = DEFAULT_PRIORITY_CLASSES,
        release: str = "hyperpod-priority-classes",
        namespace: str = "kube-system",
    ) -> None:
        super().__init__(scope, construct_id)
        HelmRelease(
            self,
            "Release",
            cluster=cluster,
            provisioner=provisioner,
            chart=asset_directory("charts") / "priority-classes",
            release=release,
            namespace=namespace,
            values={"classes": [item.to_request() for item in classes]},
        )


class DeletionCheck(Construct):
    """Refuses the deletion of its stack while users would lose something, before it begins.

    That is: objects in the namespaces, and of the CustomResourceDefinitions, that the releases
    delete; and jobs that run on the nodes. CloudFormation deletes first what nothing depends on, so
    the check must depend on everything else in its stack. A rollback is never refused.

    To consent, set `delete_user_objects`, or tag the EKS cluster as the refusal says, which works
    for a stack that cannot be updated too.

    Args:
        cluster: The EKS cluster.
        provisioner: Looks; needs `ProvisionerAccess` to the cluster.
        releases: Helm releases of the stack.
        delete_user_objects: Whether users' objects and running jobs may be lost. Default: no.
        depends_on: Everything else in the stack.
    """

    def __init__(
        self,
        scope: Construct,
        construct_id: str,
        *,
        cluster: eks.ICluster,
        provisioner: Provisioner,
        releases: Sequence[HelmRelease],
        delete_user_objects: bool = False,
        depends_on: Sequence[IDependable],
    ) -> None:
        super().__init__(scope, construct_id)
        provisioner.custom_resource(
            self,
            "Resource",
            resource_type="Custom::DeletionCheck",
            properties={
                "ClusterName": cluster.cluster_name,
                "Releases": json.dumps(
                    [f"{release.namespace}/{release.release}" for release in releases]
                ),
                "DeleteUserObjects": json.dumps(delete_user_objects),
            },
            depends_on=depends_on,
        )
