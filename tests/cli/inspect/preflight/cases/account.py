"""Machines, accounts and regions that are not ready, and names that are taken."""

import json
from collections.abc import Mapping
from pathlib import Path
from typing import Any

from hyperpod_cdk.helm.chart import HyperPodChartError
from hyperpod_cli.deliver.charts.command import PINS
from hyperpod_cli.deliver.charts.git_source import check_out_chart
from hyperpod_cli.deliver.charts.pins import load_pins
from hyperpod_cli.helm.helm import ChartError
from hyperpod_emulator.hyperpod import Faults
from hyperpod_emulator.testing.stacks import another_eks_cluster
from hyperpod_rehearsal.existing_resources.observability import IDENTITY_CENTER, grafana_workspace
from hyperpod_stacks.packaged_chart import helm_chart
from tests.support.assembly import merged, synthesized
from tests.support.configs import MINIMUM
from tests.support.failure import CONTROL_PLANE, Failure, creating
from tests.support.partial_deployment import ACCOUNT_IN_FILES, Deployment, StepFailedError

_TRUST = {"Version": "2012-10-17", "Statement": []}
# CloudFormation publishes no schema of the type for it.
_WITHOUT_NATIVE = "eu-west-3"
_TOLD: Mapping[str, Any] = {
    "topic_arn": f"arn:aws:sns:us-west-2:{ACCOUNT_IN_FILES}:nobody-made-it",
    "emails": ["ml-platform@example.com"],
}
_ANYWHERE: Mapping[str, Any] = {
    **MINIMUM,
    "region": None,
    "network": {"hyperpod_subnets": [{"cidr": "10.1.0.0/16"}]},
}
"""A configuration for any region."""


def _empty_path(deployment: Deployment) -> None:
    deployment.patch.setenv("PATH", str(_folder(deployment)))


def _check_out(deployment: Deployment) -> None:
    """Get the official chart, as `hyperpod-cdk charts` does.

    Raises:
        StepFailedError: It does not begin.
    """
    workspace = _folder(deployment) / "checkout"
    try:
        check_out_chart(source=load_pins(PINS).chart, workspace=workspace)
    except ChartError as error:
        raise StepFailedError(str(error)) from None


def _folder(deployment: Deployment) -> Path:
    folder = deployment.synthesis.directory / f"of-{deployment.account}"
    folder.mkdir(exist_ok=True)
    return folder


def _with_unreadable_chart(deployment: Deployment) -> None:
    chart = _folder(deployment) / "mine.tgz"
    chart.write_bytes(b"no archive")
    _name_chart(deployment, chart)


def _with_poor_chart(deployment: Deployment) -> None:
    folder = _folder(deployment) / "poor"
    folder.mkdir()
    chart = {"apiVersion": "v2", "name": "poor", "version": "1.0.0"}
    (folder / "Chart.yaml").write_text(json.dumps(chart))
    # As `hyperpod-cdk charts` writes it.
    operator = {
        "component": "training-operators",
        "name": "training-operators",
        "version": "0.1.0",
        "conditions": ["trainingOperators.enabled"],
    }
    (folder / "packaging.json").write_text(json.dumps({"absent": [operator]}))
    _name_chart(deployment, folder)


def _name_chart(deployment: Deployment, chart: Path) -> None:
    deployment.document = merged(deployment.document, {"helm": {"chart": str(chart)}})


def _synthesis(deployment: Deployment) -> None:
    """Synthesize as the app does, with the configuration's own chart.

    Raises:
        StepFailedError: The app refuses the chart.
    """
    try:
        chart = helm_chart(deployment.config)
        synthesized(deployment.config, chart=chart.path, directory=_folder(deployment))
    except HyperPodChartError as refused:
        raise StepFailedError(str(refused)) from refused


def _without_hyperpod(deployment: Deployment) -> None:
    deployment.hyperpod.faults = Faults(absent=True)


def _another_cluster(deployment: Deployment) -> None:
    """Make an EKS cluster of the deployment's name, which has nothing to do with it."""
    iam = deployment.client("iam")
    role = iam.create_role(RoleName="Other", AssumeRolePolicyDocument=json.dumps(_TRUST))["Role"]
    another_eks_cluster(deployment.client, name="ml-eks", role_arn=role["Arn"])


def _another_hyperpod_cluster(deployment: Deployment) -> None:
    """Make a HyperPod cluster of the deployment's name, which has nothing to do with it."""
    name, sagemaker = "ml-cluster", deployment.client("sagemaker")
    deployment.changed({"name": "other", "cluster": {"name": name}}).create_cluster()
    arn = sagemaker.describe_cluster(ClusterName=name)["ClusterArn"]
    tags = sagemaker.list_tags(ResourceArn=arn)["Tags"]
    sagemaker.delete_tags(ResourceArn=arn, TagKeys=[each["Key"] for each in tags])


def _a_bucket(deployment: Deployment) -> None:
    where = {"LocationConstraint": deployment.region}
    name = f"sagemaker-ml-{deployment.account}-{deployment.region}"
    deployment.client("s3").create_bucket(Bucket=name, CreateBucketConfiguration=where)


def _a_role(deployment: Deployment) -> None:
    document = json.dumps(_TRUST)
    deployment.client("iam").create_role(RoleName="Taken", AssumeRolePolicyDocument=document)


def _an_alias(deployment: Deployment) -> None:
    kms = deployment.client("kms")
    key = kms.create_key()["KeyMetadata"]["KeyId"]
    kms.create_alias(AliasName="alias/ml", TargetKeyId=key)


def _a_log_group(deployment: Deployment) -> None:
    deployment.client("logs").create_log_group(logGroupName="/aws/eks/ml-eks/cluster")


def _taken(name: str, changes: Mapping[str, Any] = {}, **case: Any) -> Failure:
    return Failure(case=f"taken-names: {name}", document=merged(MINIMUM, changes), **case)


def _measured(grafana: Mapping[str, Any] | None = None, **prometheus: Any) -> Mapping[str, Any]:
    shown = {} if grafana is None else {"grafana": grafana}
    return {**MINIMUM, "observability": {"prometheus": prometheus, **shown}}


_IN_ACCOUNT = f"us-west-2:{ACCOUNT_IN_FILES}"
_PROMETHEUS = f"arn:aws:aps:{_IN_ACCOUNT}:workspace/ws-1234abcd-12ab-34cd-56ef-1234567890ab"
_GRAFANA: Mapping[str, Any] = {
    "kind": "managed",
    "workspace_arn": f"arn:aws:grafana:{_IN_ACCOUNT}:/workspaces/g-0123456789",
    "workspace_name": "research",
}


_RULES = creating("operators", "AWS::APS::RuleGroupsNamespace")


def _elsewhere(arn: str) -> str:
    return arn.replace(ACCOUNT_IN_FILES, "9" * 12)


def _another_grafana(deployment: Deployment) -> None:
    IDENTITY_CENTER.make(deployment.client)
    grafana_workspace("g-0123456789", name="theirs").make(deployment.client)


FAILURES = (
    Failure(
        case="managed-grafana: no Identity Center",
        document=_measured({"kind": "managed"}),
        deploy=creating("operators", "AWS::Grafana::Workspace"),
        said="ValidationException: SSO is not enabled in any region",
    ),
    *(
        Failure(
            case=f"managed-grafana: {name}",
            document=_measured({**_GRAFANA, **changed}),
            before=before,
            deploy=_RULES,
        )
        for name, changed, before in (
            ("not there", {}, None),
            ("of another name", {}, _another_grafana),
            ("of another account", {"workspace_arn": _elsewhere(_GRAFANA["workspace_arn"])}, None),
        )
    ),
    *(
        Failure(
            case=f"prometheus-workspace: {name}",
            document=_measured(workspace_arn=arn),
            deploy=_RULES,
            said="ResourceNotFoundException: Workspace not found",
        )
        for name, arn in (
            ("not there", _PROMETHEUS),
            ("of another account", _elsewhere(_PROMETHEUS)),
        )
    ),
    Failure(
        case="topic: not there",
        document={**MINIMUM, "observability": {"notifications": _TOLD}},
        deploy=creating("observability", "AWS::SNS::Subscription"),
        said="NotFound|not exist",
    ),
    Failure(
        case="client-tools: without git",
        before=_empty_path,
        deploy=_check_out,
        said="git is not installed",
    ),
    Failure(
        case="bootstrap: never",
        deploy=lambda deployment: deployment.create(
            "platform", "AWS::EC2::VPC", bootstrapped=False
        ),
        # https://github.com/aws-samples/aws-cross-account-cicd-pipeline/issues/40
        said="ValidationError.*Unable to fetch parameters .*/cdk-bootstrap/hnb659fds/version",
    ),
    Failure(
        case="hyperpod-api: none",
        before=_without_hyperpod,
        said="UnknownOperationException.*not supported in the called region",
    ),
    Failure(
        case="resource-types: none",
        region=_WITHOUT_NATIVE,
        document=merged(_ANYWHERE, {"cluster": {"resource": "native"}}),
        deploy=creating("hyperpod", "AWS::SageMaker::Cluster"),
        said=r"Unrecognized resource types: \[AWS::SageMaker::Cluster\]",
    ),
    Failure(
        case="helm-chart: no archive",
        before=_with_unreadable_chart,
        deploy=_synthesis,
        said="mine.tgz",
    ),
    Failure(
        case="helm-chart: without a component",
        before=_with_poor_chart,
        deploy=_synthesis,
        said="needs the chart training-operators 0.1.0, which is not in",
    ),
    _taken(
        "EKS cluster",
        before=_another_cluster,
        deploy=CONTROL_PLANE,
        said="Cluster already exists with name: ml-eks",
    ),
    _taken(
        "HyperPod cluster",
        before=_another_hyperpod_cluster,
        said="A HyperPod cluster ml-cluster exists already and belongs to someone else",
    ),
    _taken(
        "log group",
        before=_a_log_group,
        deploy=CONTROL_PLANE,
        said="'AWS::Logs::LogGroup' with identifier '/aws/eks/ml-eks/cluster' already exists",
    ),
    _taken(
        "bucket",
        before=_a_bucket,
        deploy=creating("platform", "LifecycleBucket"),
        said=r"sagemaker-ml-\d+-us-west-2'? already exists",
    ),
    _taken(
        "role",
        {"cluster": {"execution_role_name": "Taken"}},
        before=_a_role,
        deploy=creating("platform", "ExecutionRole"),
        said="Taken.* already exists",
    ),
    _taken(
        "alias of the key",
        {"encryption": {"create_kms_key": True}},
        before=_an_alias,
        deploy=creating("platform", "AWS::KMS::Alias"),
        said="alias/ml'? already exists",
    ),
)
