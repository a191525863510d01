"""Whether each statement of each role is needed: a rehearsal would fail without it, or AWS asks.

A statement that alone allowed a call of a rehearsal cannot be removed: the call would be denied.
"""

import json
from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence
from itertools import takewhile
from pathlib import Path
from typing import Any

from tools.security.roles import Role, read_roles

_HYPERPOD = "https://docs.aws.amazon.com/sagemaker/latest/dg"
_CNI = "https://docs.aws.amazon.com/aws-managed-policy/latest/reference/AmazonEKS_CNI_Policy.html"
# The template of the console's cluster setup, whose role of the nodes has the same statements.
_S3 = "https://docs.aws.amazon.com/AmazonS3/latest/userguide/example-policies-s3.html"
_SETUP = "https://github.com/aws/sagemaker-hyperpod-cluster-setup"
_CSI_DRIVER = "https://github.com/kubernetes-sigs/aws-fsx-csi-driver/blob/master/docs/install.md"
_FSX_KEYS = "https://docs.aws.amazon.com/fsx/latest/LustreGuide/encryption-at-rest.html"
_AUTOSCALER = (
    "https://github.com/kubernetes/autoscaler/blob/master/cluster-autoscaler/cloudprovider/aws/"
    "README.md"
)
_BUILD_ROLE = "https://docs.aws.amazon.com/codebuild/latest/userguide/setting-up-service-role.html"
_INFERENCE = f"{_HYPERPOD}/sagemaker-hyperpod-model-deployment-setup.html"
_KEDA = "https://keda.sh/docs/latest/scalers/aws-cloudwatch/"
_LOAD_BALANCERS = (
    "https://github.com/kubernetes-sigs/aws-load-balancer-controller/blob/main/docs/install/"
    "iam_policy.json"
)
_EBS = f"{_HYPERPOD}/sagemaker-hyperpod-eks-ebs.html"
_GRAFANA = "https://docs.aws.amazon.com/grafana/latest/userguide/AMG-manage-permissions.html"
_SAGEMAKER = "https://docs.aws.amazon.com/sagemaker/latest/APIReference"
_PULLS = "https://docs.aws.amazon.com/AmazonECR/latest/userguide/repository-policy-examples.html"
_LAMBDA_LOGS = "https://docs.aws.amazon.com/lambda/latest/dg/monitoring-cloudwatchlogs.html"
_FRAMEWORK = "ProvisionerProviderframework"
_PROVIDER = (
    "https://github.com/aws/aws-cdk/blob/main/packages/aws-cdk-lib/custom-resources/lib/"
    "provider-framework"
)

# Of a role's name that is cut short.
_SHORTEST = 10

_ASKED: Sequence[tuple[str, str, str]] = (
    # What nodes do is not rehearsed.
    *(
        (
            role,
            "ManageNetworkInterfaces DetachNetworkInterfaces TagNetworkInterfaces DescribeNetwork",
            _CNI,
        )
        for role in ("ExecutionRole", "ControllerRole")
    ),
    ("ControllerRole", "PullImages", _PULLS),
    (
        "ControllerRole",
        "GrantVolumeKeys DescribeVolumeKeys",
        f"{_HYPERPOD}/smcluster-cmk.html",
    ),
    ("NodeGroupsNodeRole", "ManageNetworkInterfaces TagNetworkInterfaces DescribeNetwork", _CNI),
    (
        "ExecutionRole",
        "AttachNetworkInterfaces",
        f"{_SAGEMAKER}/API_AttachClusterNodeNetworkInterface.html",
    ),
    ("ExecutionRole", "PullImages", _PULLS),
    (
        "ExecutionRole",
        "PodIdentity",
        "https://docs.aws.amazon.com/eks/latest/userguide/pod-id-agent-setup.html",
    ),
    # AWS's managed policy allows both too, as long as the bucket's name begins with `sagemaker-`.
    ("ExecutionRole", "ListScripts ReadScripts", _SETUP),
    # EBS, alarms and nodes use these, not the provisioner.
    ("ExecutionRole", "GrantVolumeKeys DescribeVolumeKeys", f"{_HYPERPOD}/smcluster-cmk.html"),
    ("ExecutionRole", "ListDataBuckets ListDataPrefix ReadData", _S3),
    # The local Secrets Manager does not ask KMS whether who reads a secret may decrypt it.
    (
        "ControllerRole",
        "DecryptAccountingSecret",
        "https://docs.aws.amazon.com/secretsmanager/latest/userguide/security-encryption.html",
    ),
    # Nor the local DynamoDB whether who writes an item may use its table's key.
    (
        "ProvisionerRole",
        "EncryptJournal",
        "https://docs.aws.amazon.com/amazondynamodb/latest/developerguide/encryption.usagenotes.html",
    ),
    ("ExecutionRole", "ReadRollbackAlarms", f"{_HYPERPOD}/sagemaker-hyperpod-ami-update.html"),
    (
        "AutoScalingRole",
        "ScaleClusters",
        f"{_HYPERPOD}/sagemaker-hyperpod-eks-autoscaling-iam.html",
    ),
    # What the CSI driver does is not rehearsed.
    (
        "FsxCsiDriverRole",
        "CreateFileSystems ChangeOwnFileSystems DescribeFileSystems CreateServiceLinkedRole "
        "SpareOtherFileSystems",
        _CSI_DRIVER,
    ),
    (
        "FsxCsiDriverRole",
        "CheckSecurityGroups",
        "https://docs.aws.amazon.com/aws-managed-policy/latest/reference/AmazonFSxFullAccess.html",
    ),
    ("FsxCsiDriverRole", "EncryptFileSystems LetFsxUseTheKey", _FSX_KEYS),
    # The local CodeBuild runs nothing; a test plays a build with the role, but for these.
    ("TrainingImagesRole", "FindSource ReadSource WriteLog", _BUILD_ROLE),
    ("TrainingImagesRole", "PullBaseImages", _PULLS),
    # Grafana and the collector of metrics do not run in a rehearsal.
    ("GrafanaPodRole", "QueryMetrics", _GRAFANA),
    ("GrafanaRole", "QueryMetrics ReadCloudWatch", _GRAFANA),
    (
        "MetricsCollectorRole",
        "WriteMetrics",
        "https://docs.aws.amazon.com/prometheus/latest/userguide/AMP-onboard-ingest-metrics.html",
    ),
    # The Cluster Autoscaler does not run in a rehearsal.
    ("ClusterAutoscalerRole", "ScaleNodeGroups FindNodeGroups LookAtNodeGroups", _AUTOSCALER),
    # Only a cluster that cannot be deleted is asked about; with task governance, one of both would
    # do.
    (
        "ProvisionerRole",
        "FindTaskGovernance ListTaskGovernance",
        f"{_SAGEMAKER}/API_ListComputeQuotas.html",
    ),
    ("ProvisionerRole", "FindGovernedCluster", f"{_SAGEMAKER}/API_DescribeCluster.html"),
    # Nothing of the inference operator runs in a rehearsal.
    ("OperatorsInferenceKedaRole", "ReadMetrics QueryPrometheus", _KEDA),
    (
        "OperatorsInferenceLoadBalancersRole",
        "CreateServiceLinkedRole LookForLoadBalancers CreateSecurityGroups TagNewSecurityGroups "
        "TagOwnSecurityGroups OpenSecurityGroups DeleteOwnSecurityGroups CreateLoadBalancers "
        "TagNewLoadBalancers TagOwnLoadBalancers ChangeOwnLoadBalancers ListenOnLoadBalancers "
        "TagNewListeners TagOwnListeners "
        "RegisterPods",
        _LOAD_BALANCERS,
    ),
    ("OperatorsInferenceOperatorRole", "PassOwnRole", _INFERENCE),
    ("OperatorsModelsRoleDriverRole", "FindModels ReadModels ListDataBuckets ReadData", _INFERENCE),
    # The driver of EBS does not run in a rehearsal.
    ("OperatorsVolumesRoleDriverRole", "AttachVolumes DescribeCluster", _EBS),
    # Only what goes wrong is told.
    (
        "NotificationsNotifierRole",
        "Tell",
        "https://docs.aws.amazon.com/sns/latest/api/API_Publish.html",
    ),
    # The local AWS does not ask for what Lambda, Step Functions and flow logs do themselves.
    ("ProvisionerRole", "logs:CreateLogStream", _LAMBDA_LOGS),
    ("NotificationsNotifierRole", "logs:CreateLogStream", _LAMBDA_LOGS),
    (
        "NetworkVpcFlowLogIAMRole",
        "logs:CreateLogStream",
        "https://docs.aws.amazon.com/vpc/latest/userguide/flow-logs-iam-role.html",
    ),
    (
        "ProvisionerProviderwaiterstatemachineRole",
        "lambda:InvokeFunction",
        "https://docs.aws.amazon.com/step-functions/latest/dg/lambda-iam.html",
    ),
    (
        "ProvisionerProviderwaiterstatemachineRole",
        "logs:CreateLogDelivery",
        "https://docs.aws.amazon.com/step-functions/latest/dg/cw-logs.html",
    ),
    # Nor does its SNS ask KMS whether who publishes may encrypt.
    (
        "NotificationsNotifierRole",
        "EncryptMessages",
        "https://docs.aws.amazon.com/sns/latest/dg/sns-key-management.html",
    ),
    # CDK's framework asks for a function that cannot be invoked yet, and the end of time is never
    # reached.
    (f"{_FRAMEWORK}isCompleteServiceRole", "lambda:GetFunction", _PROVIDER),
    (f"{_FRAMEWORK}onEventServiceRole", "lambda:GetFunction", _PROVIDER),
    (f"{_FRAMEWORK}onTimeoutServiceRole", "lambda:GetFunction lambda:InvokeFunction", _PROVIDER),
)
ASKED_FOR: Mapping[tuple[str, str], str] = {
    (role, name): source for role, names, source in _ASKED for name in names.split()
}
"""Statements that a rehearsal does without, by role and name, and the source that asks for each."""


def unneeded(assembly: Path, *, allowed_calls: Path) -> list[str]:
    """Return the statements without which a rehearsal ends as well, and that nobody asks for.

    Args:
        assembly: Directory of the cloud assembly.
        allowed_calls: What the local AWS wrote of the rehearsal's calls.
    """
    there, needed = _counted(assembly, allowed_calls)
    return [
        f"{'.'.join(key)}: {count}, of which the rehearsal needs {needed[key]}"
        for key, count in there.items()
        if needed[key] < count and key not in ASKED_FOR
    ]


def needed_though_listed(assembly: Path, *, allowed_calls: Path) -> list[str]:
    """Return the statements that are listed, but that a rehearsal needs.

    Args:
        assembly: Directory of the cloud assembly.
        allowed_calls: What the local AWS wrote of the rehearsal's calls.
    """
    there, needed = _counted(assembly, allowed_calls)
    return [".".join(key) for key in there if needed[key] >= there[key] and key in ASKED_FOR]


def _counted(
    assembly: Path, allowed_calls: Path
) -> tuple[Counter[tuple[str, str]], Counter[tuple[str, str]]]:
    """Return how many statements of each role and name there are, and are needed."""
    roles = read_roles(assembly)
    there = Counter((role.name, each.name) for role in roles for each in role.statements)
    return there, Counter(_needed(roles, _lines(allowed_calls)))


def _lines(file: Path) -> Iterator[dict[str, Any]]:
    for line in file.read_text(encoding="utf-8").splitlines():
        yield json.loads(line)


def _needed(roles: Iterable[Role], lines: Iterable[Mapping[str, Any]]) -> Iterator[tuple[str, str]]:
    """Yield role and name of each statement that alone allowed a call."""
    alone = {
        (line["role"], json.dumps(line["statements"][0], sort_keys=True))
        for line in lines
        if len(line["statements"]) == 1
    }
    names = [role.name for role in roles]
    for physical_id, statement in alone:
        name = _logical_name(physical_id, names)
        if name is not None:
            yield name, json.loads(statement)["name"]


def _logical_name(physical_id: str, names: Iterable[str]) -> str | None:
    """Return the role of the templates that a role is; None if it is another one.

    Its name is the stack's, the logical ID, perhaps cut short, and an identifier.
    """
    parts = physical_id.split("-")
    length, name = max(
        (_common(name, part), name) for name in names for part in (*parts, physical_id)
    )
    return name if length >= _SHORTEST else None


def _common(one: str, other: str) -> int:
    """Return how many characters two texts begin with alike."""
    return len([*takewhile(lambda pair: pair[0] == pair[1], zip(one, other, strict=False))])
