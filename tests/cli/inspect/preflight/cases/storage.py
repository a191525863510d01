"""File systems, buckets and keys that exist, and changes that FSx refuses."""

import json
from collections.abc import Callable, Mapping
from typing import Any

from emulator.aws.settings import KMS_KEY_ID
from rehearsal.existing_resources import existing_resources
from tests.support.assembly import merged
from tests.support.configs import MINIMUM
from tests.support.failure import Failure, Step, creating, everything, the_cluster
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
_SLURM: Mapping[str, Any] = {
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
_KEY = "1234abcd-12ab-34cd-56ef-1234567890ab"
_FSX_DRIVER = "aws-fsx-csi-driver"
_LOGS = creating("platform", "EksLogs")


def file_systems(deployment: Deployment) -> None:
    """Create or update the file systems, in a network that lets their traffic pass."""
    deployment.create("platform", "ClusterSecurityGroup")
    deployment.create("storage", "AWS::FSx::FileSystem")


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
        KeySpec="RSA_2048",
        KeyUsage="SIGN_VERIFY",
        Tags=[{"TagKey": KMS_KEY_ID, "TagValue": _KEY}],
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


def _with_homes(deployment: Deployment) -> None:
    the_cluster(deployment.changed({"storage": {"home_directories": {"capacity_gib": 100}}}))


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


def _change(name: str, *, before: Step, found: str, said: str, **storage: Any) -> Failure:
    return Failure(
        validator="file-system-changes",
        name=name,
        document=merged(_FILES, {"storage": storage}),
        before=before,
        found=found,
        deploy=file_systems,
        said=said,
    )


def _of_key(name: str, *, before: Step | None, found: str, deploy: Step, said: str) -> Failure:
    return Failure(
        validator="kms-key",
        name=name,
        document=KEYED,
        before=before,
        found=found,
        deploy=deploy,
        said=said,
    )


FAILURES = (
    Failure(
        validator="storage-stack",
        name="a file system that stays",
        document=merged(MINIMUM, {"storage": None}),
        before=_with_driver,
        found="takes the FSx CSI driver from the stack ml-storage, which stays",
        deploy=_without_driver,
        said=rf"1 file system with (?!.*{_FSX_DRIVER})",
    ),
    Failure(
        validator="existing-bucket",
        name="none",
        document=OWN_BUCKET,
        before=_without_bucket,
        found=r"'research-\d+' does not exist",
        deploy=lambda deployment: deployment.provision("platform", "Custom::LifecycleScripts"),
        said=r"could not be put into the bucket research-\d+.*NoSuchBucket",
    ),
    Failure(
        validator="existing-bucket",
        name="an object in the way",
        document=OWN_BUCKET,
        before=_with_an_object_in_the_way,
        found="'hyperpod/reuse' holds hyperpod/reuse/on_create.sh in research-",
        deploy=lambda deployment: deployment.provision("platform", "Custom::LifecycleScripts"),
        said=r"research-\d+ has an object hyperpod/reuse/on_create\.sh that is not of this",
    ),
    Failure(
        validator="existing-bucket",
        name="with a key",
        document=OWN_BUCKET,
        before=_with_encrypted_bucket,
        found="existing_bucket_kms_key_arn: is missing",
        deploy=the_cluster,
        said="is not allowed kms:Decrypt",
    ),
    Failure(
        validator="existing-file-systems",
        name="none",
        document=example("existing-file-system"),
        found="'fs-0123456789abcdef0' is not a file system of account",
        deploy=lambda deployment: deployment.provision("storage", "Custom::FileSystemAvailability"),
        said="The file system fs-0123456789abcdef0 is not known to FSx",
    ),
    Failure(
        validator="imported-file-systems",
        name="home directories that nodes mount",
        document=_SLURM,
        before=_with_homes,
        found="home_directories: null takes fs-.* out of ml-storage.* ml-hyperpod --exclusively",
        deploy=file_systems,
        said="Export ml-storage:.* cannot be deleted as it is in use by ml-hyperpod",
    ),
    _change(
        "smaller",
        before=_deployed({}),
        found="1200 is less than the 2400 GiB that it has: a file system can only grow",
        said="StorageCapacity 1200 is below the current 2400 GiB",
        capacity_gib=1200,
    ),
    _change(
        "larger, too soon",
        before=_deployed({}, {"capacity_gib": 4800}),
        found="7200 can be changed from .*: FSx changes it every six hours",
        said="The storage capacity was increased less than 6 hours ago",
        capacity_gib=7200,
    ),
    _change(
        "home directories hardly larger",
        before=_deployed({}),
        found="105 must be 110 or more",
        said="StorageCapacity 105 is not 10 percent above 100 GiB",
        home_directories={"capacity_gib": 105},
    ),
    _change(
        "fewer metadata IOPS",
        before=_deployed({}),
        found="1500 are less than the 3000 that it has",
        said="Metadata Iops 1500 is below the current 3000",
        metadata_iops=1500,
    ),
    _of_key(
        "none",
        before=None,
        found=f"key/{_KEY}' does not exist in us-west-2",
        deploy=_LOGS,
        said="The specified KMS key does not exist",
    ),
    _of_key(
        "disabled",
        before=_key(lambda kms: kms.disable_key(KeyId=_KEY)),
        found="must be enabled, and is Disabled",
        deploy=file_systems,
        said=f"The KMS key .*{_KEY} is Disabled",
    ),
    _of_key(
        "to be deleted",
        before=_key(lambda kms: kms.schedule_key_deletion(KeyId=_KEY)),
        found="must be enabled, and is PendingDeletion",
        deploy=file_systems,
        said=f"The KMS key .*{_KEY} is PendingDeletion",
    ),
    _of_key(
        "for signatures",
        before=_signing_key,
        found="must be a symmetric key for encryption, and is RSA_2048 for SIGN_VERIFY",
        deploy=file_systems,
        said=f"The KMS key .*{_KEY} is not symmetric",
    ),
    _of_key(
        "without the statement for logs",
        before=_key(_without_logs),
        found="must let .*logs.us-west-2.amazonaws.com.* use it",
        deploy=_LOGS,
        said="The specified KMS key does not exist or is not allowed to be used with Arn",
    ),
)
