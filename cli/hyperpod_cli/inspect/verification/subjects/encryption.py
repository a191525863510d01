"""Whether the key of a configuration encrypts what it says, as the services tell."""

from collections.abc import Mapping
from typing import Any

from hyperpod_cdk.storage.section import PROVISIONED_TAG
from hyperpod_cli.aws.session import AwsClient, listed
from hyperpod_cli.inspect.preflight.deployed import resources_of
from hyperpod_cli.inspect.verification.check import (
    Check,
    Checks,
    LiveDeployment,
    Phase,
    checked,
    subject,
)
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
    config, client = deployment.config, deployment.client
    section, plane = config.encryption, config.control_plane
    if not section.has_key:
        return
    outputs = {key: value for each in deployment.outputs.values() for key, value in each.items()}
    key = outputs["EncryptionKeyArn"]
    if section.create_kms_key:
        rotation = client("kms").get_key_rotation_status(KeyId=key)["KeyRotationEnabled"]
        yield _check(f"aws kms get-key-rotation-status --key-id {key}", ok=rotation)
    if plane is not None and section.eks_secrets and plane.secrets_kms_key_arn is None:
        name = config.eks_cluster_name
        ok = _encrypts_secrets(client("eks").describe_cluster(name=name)["cluster"], key)
        yield _check(
            f"aws eks describe-cluster --name {name}: secrets encrypted with the key", ok=ok
        )
    # An existing bucket or file system keeps its own key.
    is_made = config.lifecycle_scripts.existing_bucket_name is None
    script = script_key(config) if config.cluster.exists else None
    if section.lifecycle_bucket and is_made and script is not None:
        bucket = outputs["S3BucketName"]
        ok = _encrypts_scripts(client("s3"), bucket, script=script, key=key)
        yield _check(f"aws s3api get-bucket-encryption --bucket {bucket}: with the key", ok=ok)
    if section.file_system and config.storage is not None:
        for _, files in config.storage.placed_files:
            if getattr(files, "file_system_id", None) is None:
                name = outputs[f"{files.output_prefix}FileSystemId"]
                [described] = client("fsx").describe_file_systems(FileSystemIds=[name])[
                    "FileSystems"
                ]
                title = f"aws fsx describe-file-systems --file-system-ids {name}: with the key"
                yield _check(title, ok=described.get("KmsKeyId") == key)
        if config.storage.dynamic_provisioning:
            yield _provisioned(client("fsx"), config.eks_cluster_name, key=key)
    if section.accounting and config.makes_accounting:
        name = outputs["AccountingDatabaseId"]
        [described] = client("rds").describe_db_instances(DBInstanceIdentifier=name)["DBInstances"]
        keys = {
            described.get("KmsKeyId"),
            (described.get("MasterUserSecret") or {}).get("KmsKeyId"),
        }
        title = f"aws rds describe-db-instances --db-instance-identifier {name}: with the key"
        yield _check(title, ok=keys == {key})
    if section.node_volumes and config.cluster.exists:
        name = config.cluster.name
        groups = client("sagemaker").describe_cluster(ClusterName=name)["InstanceGroups"]
        own_keys = {key, *config.cluster.volume_key_ids}
        title = (
            f"aws sagemaker describe-cluster --cluster-name {name}: volumes encrypted with the key"
        )
        yield _check(
            title, ok=bool(groups) and all(_encrypts_volumes(group, own_keys) for group in groups)
        )
    if section.logs:
        yield _log_groups(deployment, key=key)


def _check(title: str, *, ok: bool) -> Check:
    return checked(title, problem=None if ok else "is not so", advice=_ADVICE)


def _encrypts_secrets(cluster: Mapping[str, Any], key: str) -> bool:
    return [
        (part["resources"], part["provider"]["keyArn"])
        for part in cluster.get("encryptionConfig", [])
    ] == [(["secrets"], key)]


def _encrypts_scripts(s3: AwsClient, bucket: str, *, script: str, key: str) -> bool:
    answer = s3.get_bucket_encryption(Bucket=bucket)
    [rule] = answer["ServerSideEncryptionConfiguration"]["Rules"]
    wanted = {"SSEAlgorithm": "aws:kms", "KMSMasterKeyID": key}
    head = s3.head_object(Bucket=bucket, Key=script)
    of_bucket = rule["ApplyServerSideEncryptionByDefault"]
    return bool(of_bucket == wanted and head.get("SSEKMSKeyId") == key)


def _provisioned(fsx: AwsClient, cluster: str, *, key: str) -> Check:
    tag = {"Key": PROVISIONED_TAG, "Value": cluster}
    others = [
        files["FileSystemId"]
        for files in listed(fsx, "describe_file_systems", "FileSystems")
        if tag in files.get("Tags", ()) and files.get("KmsKeyId") != key
    ]
    return checked(
        "aws fsx describe-file-systems: those of claims encrypted with the key",
        problem=f"not {', '.join(others)}" if others else None,
        advice="FSx changes no key: copy the files to a new claim, and delete the old one",
    )


def _encrypts_volumes(group: Mapping[str, Any], keys: set[str]) -> bool:
    storage = group.get("InstanceStorageConfigs") or []
    volumes = [volume["EbsVolumeConfig"] for volume in storage if "EbsVolumeConfig" in volume]
    is_of_key = {volume.get("VolumeKmsKeyId") for volume in volumes} <= keys
    return is_of_key and any(volume.get("RootVolume") for volume in volumes)


def _log_groups(deployment: LiveDeployment, *, key: str) -> Check:
    config = deployment.config
    names = resources_of(config, "platform", deployment.client, resource_type=_LOG_GROUP)
    described = listed(deployment.client("logs"), "describe_log_groups", "logGroups")
    groups = [group for group in described if group["logGroupName"] in names]
    days = config.log_retention_days
    ok = all(
        group.get("kmsKeyId") == key and days in (None, group.get("retentionInDays"))
        for group in groups
    )
    title = f"aws logs describe-log-groups: the {len(names)} of {stack_name(config, 'platform')}"
    return _check(f"{title} encrypted with the key", ok=ok and len(groups) == len(names) > 0)
