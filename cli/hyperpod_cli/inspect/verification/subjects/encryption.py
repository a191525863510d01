"""Whether the key of a configuration encrypts what it says, as the services tell."""

from collections.abc import Mapping
from typing import Any

from hyperpod_cdk import Config
from hyperpod_cdk.storage.section import PROVISIONED_TAG
from hyperpod_cli.aws.session import listed
from hyperpod_cli.inspect.preflight.deployed import Clients, resources_of
from hyperpod_cli.inspect.verification.check import Checks, LiveDeployment, Phase, checked, subject
from hyperpod_cli.inspect.verification.subjects.scripts import script_key
from hyperpod_stacks.table import stack_name

_LOG_GROUP = "AWS::Logs::LogGroup"
_ADVICE = (
    "It was changed, or made before the key was configured: run `hyperpod-cdk deploy`; "
    "what cannot be encrypted later is made anew"
)


@subject(
    phase=Phase.DATA,
    iam=[
        "cloudformation:ListStackResources",
        "eks:DescribeCluster",
        "fsx:DescribeFileSystems",
        "kms:GetKeyRotationStatus",
        "logs:DescribeLogGroups",
        "rds:DescribeDBInstances",
        "s3:GetEncryptionConfiguration",
        "s3:GetObject",
        "sagemaker:DescribeCluster",
    ],
)
def encryption(deployment: LiveDeployment) -> Checks:
    """Every resource that the configuration assigns to the KMS key is encrypted with it."""
    config, clients = deployment.config, deployment.client
    section, plane = config.encryption, config.control_plane
    if not section.has_key:
        return
    outputs = {key: value for each in deployment.outputs.values() for key, value in each.items()}
    key = outputs["EncryptionKeyArn"]
    if section.create_kms_key:
        rotated = clients("kms").get_key_rotation_status(KeyId=key)["KeyRotationEnabled"]
        yield from _check(f"aws kms get-key-rotation-status --key-id {key}", ok=rotated)
    if plane is not None and section.eks_secrets and plane.secrets_kms_key_arn is None:
        yield from _eks(config.eks_cluster_name, key=key, clients=clients)
    # An existing bucket or file system keeps its own key.
    is_made = config.lifecycle_scripts.existing_bucket_name is None
    script = script_key(config) if config.cluster.exists else None
    if section.lifecycle_bucket and is_made and script is not None:
        yield from _bucket(outputs["S3BucketName"], script=script, key=key, clients=clients)
    if section.file_system and config.storage is not None:
        for _, files in config.storage.placed_files:
            if getattr(files, "file_system_id", None) is None:
                identifier = outputs[f"{files.output_prefix}FileSystemId"]
                yield from _file_system(identifier, key=key, clients=clients)
        if config.storage.dynamic_provisioning:
            yield from _provisioned(config.eks_cluster_name, key=key, clients=clients)
    if section.accounting and config.makes_accounting:
        yield from _accounting(outputs["AccountingDatabaseId"], key=key, clients=clients)
    if section.node_volumes and config.cluster.exists:
        yield from _volumes(config, key=key, clients=clients)
    if section.logs:
        yield from _log_groups(deployment, key=key)


def _check(title: str, *, ok: bool) -> Checks:
    yield checked(title, problem=None if ok else "is not so", advice=_ADVICE)


def _eks(name: str, *, key: str, clients: Clients) -> Checks:
    cluster = clients("eks").describe_cluster(name=name)["cluster"]
    found = [
        (each["resources"], each["provider"]["keyArn"])
        for each in cluster.get("encryptionConfig", [])
    ]
    return _check(
        f"aws eks describe-cluster --name {name}: secrets encrypted with the key",
        ok=found == [(["secrets"], key)],
    )


def _bucket(name: str, *, script: str, key: str, clients: Clients) -> Checks:
    answer = clients("s3").get_bucket_encryption(Bucket=name)
    [rule] = answer["ServerSideEncryptionConfiguration"]["Rules"]
    default = rule["ApplyServerSideEncryptionByDefault"]
    head = clients("s3").head_object(Bucket=name, Key=script)
    ok = (default, head.get("SSEKMSKeyId")) == (
        {"SSEAlgorithm": "aws:kms", "KMSMasterKeyID": key},
        key,
    )
    return _check(f"aws s3api get-bucket-encryption --bucket {name}: with the key", ok=ok)


def _file_system(identifier: str, *, key: str, clients: Clients) -> Checks:
    answer = clients("fsx").describe_file_systems(FileSystemIds=[identifier])
    [found] = answer["FileSystems"]
    return _check(
        f"aws fsx describe-file-systems --file-system-ids {identifier}: with the key",
        ok=found.get("KmsKeyId") == key,
    )


def _accounting(identifier: str, *, key: str, clients: Clients) -> Checks:
    answer = clients("rds").describe_db_instances(DBInstanceIdentifier=identifier)
    [found] = answer["DBInstances"]
    keys = {found.get("KmsKeyId"), (found.get("MasterUserSecret") or {}).get("KmsKeyId")}
    return _check(
        f"aws rds describe-db-instances --db-instance-identifier {identifier}: with the key",
        ok=keys == {key},
    )


def _provisioned(cluster: str, *, key: str, clients: Clients) -> Checks:
    tag = {"Key": PROVISIONED_TAG, "Value": cluster}
    others = [
        each["FileSystemId"]
        for each in listed(clients("fsx"), "describe_file_systems", "FileSystems")
        if tag in each.get("Tags", ()) and each.get("KmsKeyId") != key
    ]
    yield checked(
        "aws fsx describe-file-systems: those of claims encrypted with the key",
        problem=f"not {', '.join(others)}" if others else None,
        advice="FSx changes no key: copy the files to a new claim, and delete the old one",
    )


def _volumes(config: Config, *, key: str, clients: Clients) -> Checks:
    name = config.cluster.name
    answer = clients("sagemaker").describe_cluster(ClusterName=name)
    own = {key, *config.cluster.volume_key_ids}
    groups: list[Any] = answer["InstanceGroups"]
    ok = all(
        {volume.get("VolumeKmsKeyId") for volume in _volumes_of(group)} <= own
        and any(volume.get("RootVolume") for volume in _volumes_of(group))
        for group in groups
    )
    return _check(
        f"aws sagemaker describe-cluster --cluster-name {name}: volumes encrypted with the key",
        ok=ok and bool(groups),
    )


def _volumes_of(group: Mapping[str, Any]) -> list[Mapping[str, Any]]:
    storage = group.get("InstanceStorageConfigs") or []
    return [each["EbsVolumeConfig"] for each in storage if "EbsVolumeConfig" in each]


def _log_groups(deployment: LiveDeployment, *, key: str) -> Checks:
    config = deployment.config
    stack = stack_name(config, "platform")
    made = resources_of(config, "platform", deployment.client, resource_type=_LOG_GROUP)
    found = listed(deployment.client("logs"), "describe_log_groups", "logGroups")
    groups = [each for each in found if each["logGroupName"] in made]
    days = config.log_retention_days
    ok = all(
        each.get("kmsKeyId") == key and days in (None, each.get("retentionInDays"))
        for each in groups
    )
    return _check(
        f"aws logs describe-log-groups: the {len(made)} of {stack} encrypted with the key",
        ok=ok and len(groups) == len(made) > 0,
    )
