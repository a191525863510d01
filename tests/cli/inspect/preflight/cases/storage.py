"""File systems, buckets and keys that exist, and changes that FSx refuses."""

import json
from collections.abc import Callable, Mapping
from typing import Any

from hyperpod_emulator.aws.settings import KMS_KEY_ID
from hyperpod_rehearsal.existing_resources import existing_resources
from tests.support.assembly import merged
from tests.support.configs import MINIMUM
from tests.support.failure import Failure, Step, creating, everything
from tests.support.partial_deployment import ACCOUNT_IN_FILES, Deployment, example

# The names of buckets are everybody's.
_BUCKET = f"research-{ACCOUNT_IN_FILES}"
OWN_BUCKET: Mapping[str, Any] = merged(
    example("existing-eks"), {"lifecycle_scripts": {"existing_bucket_name": _BUCKET}}
)
KEYED: Mapping[str, Any] = merged(example("customer-key"), {"storage": {"capacity_gib": 1200}})
_FILES: Mapping[str, Any] = {
    **MINIMUM,
    "storage": {
        "capacity_gib": 2400,
        "metadata_iops": 3000,
        "home_directories": {"capacity_gib": 100},
    },
}
_NODES = {"instance_type": "ml.m5.large", "instance_count": 1}
SLURM: Mapping[str, Any] = {
    "name": "ml",
    "region": "us-west-2",
    "storage": {"capacity_gib": 1200},
    "cluster": {
        "orchestrator": "slurm",
        "instance_groups": [
            {"name": "head", **_NODES, "slurm": {"node_type": "controller"}},
            {"name": "cpus", **_NODES, "slurm": {"node_type": "compute", "partition": "cpu"}},
        ],
    },
}
_OF_GROUP = {"name": "g", **_NODES}
_FROM_NOWHERE = {"source_s3_uri": "s3://nobodys-scripts/all", "on_create": "setup.sh"}
_KEY = "1234abcd-12ab-34cd-56ef-1234567890ab"
_FSX_DRIVER = "aws-fsx-csi-driver"
_LOGS = creating("platform", "EksLogs")


def file_systems(deployment: Deployment) -> None:
    """Create or update the file systems, in a network that lets their traffic pass."""
    deployment.create("platform", "ClusterSecurityGroup")
    deployment.create("storage", "AWS::FSx::FileSystem")


def _links(deployment: Deployment) -> None:
    file_systems(deployment)
    deployment.create("storage", "AWS::FSx::DataRepositoryAssociation")


def _without_bucket(deployment: Deployment) -> None:
    for each in existing_resources(deployment.config):
        if not str(each).startswith("S3 bucket"):
            each.make(deployment.client)


def _with_an_object_in_the_way(deployment: Deployment) -> None:
    everything(deployment)
    deployment.client("s3").put_object(
        Bucket=_BUCKET.replace(ACCOUNT_IN_FILES, deployment.account),
        Key="hyperpod/reuse/on_create.sh",
        Body=b"theirs",
    )


def _with_encrypted_bucket(deployment: Deployment) -> None:
    everything(deployment)
    key = deployment.client("kms").create_key()["KeyMetadata"]["KeyId"]
    rule = {"SSEAlgorithm": "aws:kms", "KMSMasterKeyID": key}
    deployment.client("s3").put_bucket_encryption(
        Bucket=_BUCKET.replace(ACCOUNT_IN_FILES, deployment.account),
        ServerSideEncryptionConfiguration={"Rules": [{"ApplyServerSideEncryptionByDefault": rule}]},
    )


def _key(spoil: Callable[[Any], object]) -> Step:
    """Return what makes the key of the example, and then spoils it with a client of KMS."""

    def make(deployment: Deployment) -> None:
        everything(deployment)
        spoil(deployment.client("kms"))

    return make


def _signing_key(deployment: Deployment) -> None:
    deployment.client("kms").create_key(
        KeySpec="RSA_2048", KeyUsage="SIGN_VERIFY", Tags=[{"TagKey": KMS_KEY_ID, "TagValue": _KEY}]
    )


def _without_logs(kms: Any) -> None:  # noqa: ANN401 - a client
    document = json.loads(kms.get_key_policy(KeyId=_KEY, PolicyName="default")["Policy"])
    kept = [each for each in document["Statement"] if "Service" not in each["Principal"]]
    text = json.dumps({**document, "Statement": kept})
    kms.put_key_policy(KeyId=_KEY, PolicyName="default", Policy=text)


def _deployed(*states: Mapping[str, Any]) -> Step:
    """Return what deploys the file systems, changed in one way after the other."""

    def deploy(deployment: Deployment) -> None:
        for storage in states:
            file_systems(deployment.of(merged(_FILES, {"storage": storage})))

    return deploy


def _with_driver(deployment: Deployment) -> None:
    before = deployment.changed({"storage": {"capacity_gib": 1200}})
    file_systems(before)
    before.create("addons", "AWS::EKS::Addon")


def _without_driver(deployment: Deployment) -> str:
    """Deploy the add-ons; return which file systems stay with which of EKS's add-ons."""
    deployment.create("addons", "AWS::EKS::Addon")
    files = deployment.client("fsx").describe_file_systems()["FileSystems"]
    addons = deployment.client("eks").list_addons(clusterName="ml-eks")["addons"]
    return f"{len(files)} file system with {', '.join(addons)}"


def _change(name: str, storage: Mapping[str, Any], **case: Any) -> Failure:
    document = merged(_FILES, {"storage": storage})
    return Failure(
        case=f"file-system-changes: {name}", document=document, deploy=file_systems, **case
    )


def _linked(bucket: str) -> Mapping[str, Any]:
    """Return a configuration whose file system shows a bucket."""
    repository = {"s3_uri": f"s3://{bucket}/images"}
    return merged(MINIMUM, {"storage": {"data_repositories": [repository]}})


def _of_key(name: str, **case: Any) -> Failure:
    return Failure(case=f"kms-key: {name}", document=KEYED, **case)


FAILURES = (
    Failure(
        case="storage-stack: a file system that stays",
        document=merged(MINIMUM, {"storage": None}),
        before=_with_driver,
        deploy=_without_driver,
        said=rf"1 file system with (?!.*{_FSX_DRIVER})",
    ),
    Failure(
        case="existing-bucket: none",
        document=OWN_BUCKET,
        before=_without_bucket,
        deploy=lambda deployment: deployment.provision("platform", "Custom::LifecycleScripts"),
        said=r"could not be put into the bucket research-\d+.*NoSuchBucket",
    ),
    Failure(
        case="existing-bucket: none of a data repository",
        document=_linked("nobodys-data"),
        deploy=_links,
        said="the bucket nobodys-data does not exist",
    ),
    Failure(
        case="existing-bucket: none of a group's scripts",
        document=merged(
            MINIMUM,
            {"cluster": {"instance_groups": [{**_OF_GROUP, "lifecycle": _FROM_NOWHERE}]}},
        ),
        said="s3://nobodys-scripts/all/setup.sh: the bucket does not exist",
    ),
    Failure(
        case="existing-bucket: none of data",
        document=merged(MINIMUM, {"cluster": {"data_buckets": [{"name": "nobodys-data"}]}}),
    ),
    Failure(
        case="existing-bucket: an object in the way",
        document=OWN_BUCKET,
        before=_with_an_object_in_the_way,
        deploy=lambda deployment: deployment.provision("platform", "Custom::LifecycleScripts"),
        said=r"research-\d+ has an object hyperpod/reuse/on_create\.sh that is not of this",
    ),
    Failure(
        case="existing-bucket: with a key",
        document=OWN_BUCKET,
        before=_with_encrypted_bucket,
        said="is not allowed kms:Decrypt",
    ),
    Failure(
        case="existing-file-systems: none",
        document=example("existing-file-system"),
        deploy=lambda deployment: deployment.provision("storage", "Custom::FileSystemAvailability"),
        said="The file system fs-0123456789abcdef0 is not known to FSx",
    ),
    _change(
        "smaller",
        {"capacity_gib": 1200},
        before=_deployed({}),
        said="StorageCapacity 1200 is below the current 2400 GiB",
    ),
    _change(
        "larger, too soon",
        {"capacity_gib": 7200},
        before=_deployed({}, {"capacity_gib": 4800}),
        said="The storage capacity was increased less than 6 hours ago",
    ),
    _change(
        "home directories hardly larger",
        {"home_directories": {"capacity_gib": 105}},
        before=_deployed({}),
        said="StorageCapacity 105 is not 10 percent above 100 GiB",
    ),
    _change(
        "fewer metadata IOPS",
        {"metadata_iops": 1500},
        before=_deployed({}),
        said="Metadata Iops 1500 is below the current 3000",
    ),
    _of_key("none", deploy=_LOGS, said="The specified KMS key does not exist"),
    _of_key(
        "disabled",
        before=_key(lambda kms: kms.disable_key(KeyId=_KEY)),
        deploy=file_systems,
        said=f"The KMS key .*{_KEY} is Disabled",
    ),
    _of_key(
        "to be deleted",
        before=_key(lambda kms: kms.schedule_key_deletion(KeyId=_KEY)),
        deploy=file_systems,
        said=f"The KMS key .*{_KEY} is PendingDeletion",
    ),
    _of_key(
        "for signatures",
        before=_signing_key,
        deploy=file_systems,
        said=f"The KMS key .*{_KEY} is not symmetric",
    ),
    _of_key(
        "without the statement for logs",
        before=_key(_without_logs),
        deploy=_LOGS,
        said="The specified KMS key does not exist or is not allowed to be used with Arn",
    ),
)
