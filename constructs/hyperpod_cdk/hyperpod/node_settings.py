"""What nodes of a group get: volumes and mounts, scripts, labels and taints."""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Annotated, Any

from pydantic import Field

from hyperpod_cdk.facts.service_limits import shape
from hyperpod_cdk.lifecycle_scripts.section import OwnScriptsConfig
from hyperpod_cdk.schema.arns import BUCKET_NAME, KmsKeyId, path_part
from hyperpod_cdk.schema.errors import Finding, error
from hyperpod_cdk.schema.limits import ApiLimits, Message, limit_findings
from hyperpod_cdk.schema.named_resources import Names
from hyperpod_cdk.schema.section import SLURM, Api, OrchestratedBy, Section, judged, members

VolumeSize = Annotated[
    int, ApiLimits(shape_name="sagemaker.ClusterEbsVolumeSizeInGB", noun="a volume size in GiB")
]
DnsName = Annotated[
    str,
    ApiLimits(
        shape_name="sagemaker.ClusterDnsName",
        noun="a file system's DNS name such as fs-0123456789abcdef0.fsx.us-west-2.amazonaws.com",
    ),
    Names("file system"),
]
MountPath = Annotated[
    str,
    ApiLimits(shape_name="sagemaker.ClusterFsxMountPath", noun="a mount path such as /mnt/data"),
]


class EbsVolumeConfig(Section):
    """An EBS volume of each instance."""

    root_volume: bool = False
    """Whether this is the root volume, for which you can set only the key. Default: false, a second
    volume mounted at /opt/sagemaker."""

    volume_size_gib: Annotated[VolumeSize | None, Api("VolumeSizeInGB")] = None
    """Size in GiB; required for the second volume, fixed by HyperPod for the root volume."""

    kms_key_id: Annotated[KmsKeyId | None, Api("VolumeKmsKeyId")] = None
    """ID or ARN of the KMS key that encrypts the volume; required for the root volume. HyperPod
    takes keys only with continuous provisioning, and the key's policy must allow the execution
    role kms:CreateGrant and kms:DescribeKey. Default: a key that AWS owns."""

    def _findings(self) -> Iterator[Finding]:
        if self.root_volume and self.volume_size_gib is not None:
            message = "must be left out for the root volume, whose size HyperPod decides"
            yield error(("volume_size_gib",), self.volume_size_gib, message)
        if self.root_volume and self.kms_key_id is None:
            message = "is missing: the key is all that can be chosen for the root volume"
            yield error(("kms_key_id",), None, message)
        if not self.root_volume and self.volume_size_gib is None:
            message = "is missing: a volume that is not the root volume needs its size"
            yield error(("volume_size_gib",), None, message)

    def to_request(self) -> dict[str, Any]:
        """Return a ClusterEbsVolumeConfig."""
        return members({**super().to_request(), "RootVolume": self.root_volume or None})


class FsxLustreMountConfig(Section):
    """An FSx for Lustre file system that HyperPod mounts on each instance."""

    dns_name: Annotated[DnsName, Api("DnsName")]
    """DNS name of the file system, such as fs-0123456789abcdef0.fsx.us-west-2.amazonaws.com."""

    mount_name: Annotated[
        str,
        ApiLimits(
            shape_name="sagemaker.ClusterMountName", noun="a Lustre mount name such as abcdefgh"
        ),
        Api("MountName"),
    ]
    """Mount name of the file system."""

    mount_path: Annotated[MountPath | None, Api("MountPath")] = None
    """Directory of the instance to mount it at. Default: HyperPod's choice."""


class FsxOpenZfsMountConfig(Section):
    """An FSx for OpenZFS file system that HyperPod mounts on each instance."""

    dns_name: Annotated[DnsName, Api("DnsName")]
    """DNS name of the file system, such as fs-0123456789abcdef0.fsx.us-west-2.amazonaws.com."""

    mount_path: Annotated[MountPath | None, Api("MountPath")] = None
    """Directory of the instance to mount it at. Default: HyperPod's choice."""


@dataclass(frozen=True, kw_only=True, slots=True)
class Mounts:
    """The file systems that HyperPod mounts on the nodes of groups that name none.

    Attributes:
        lustre: FSx for Lustre file systems. Default: none.
        openzfs: FSx for OpenZFS file systems. Default: none.
    """

    lustre: tuple[FsxLustreMountConfig, ...] = ()
    openzfs: tuple[FsxOpenZfsMountConfig, ...] = ()

    def __add__(self, more: "Mounts") -> "Mounts":
        """Return these and others."""
        return Mounts(lustre=self.lustre + more.lustre, openzfs=self.openzfs + more.openzfs)


NO_MOUNTS = Mounts()
"""HyperPod mounts nothing by itself."""


def encrypted(volumes: Sequence[EbsVolumeConfig], *, key_arn: str) -> tuple[EbsVolumeConfig, ...]:
    """Return volumes with a key for each that has none, the root volume among them."""
    with_keys = [
        volume if volume.kms_key_id else volume.model_copy(update={"kms_key_id": key_arn})
        for volume in volumes
    ]
    if not any(volume.root_volume for volume in volumes):
        with_keys.append(EbsVolumeConfig.model_construct(root_volume=True, kms_key_id=key_arn))
    return tuple(with_keys)


def volume_findings(volumes: Sequence[EbsVolumeConfig]) -> Iterator[Finding]:
    """Find more than one root volume, and more than one other volume.

    https://docs.aws.amazon.com/sagemaker/latest/APIReference/API_ClusterEbsVolumeConfig.html
    """
    for index, volume in enumerate(volumes):
        if volume.root_volume in [earlier.root_volume for earlier in volumes[:index]]:
            kind = "root" if volume.root_volume else "second"
            message = f"is one {kind} volume too many: an instance has one root and one second one"
            yield error((index,), volume.model_dump(exclude_none=True), message)


_S3_URI = rf"s3://{BUCKET_NAME}(/{path_part('A-Za-z0-9!_-')})+/?"
_S3_URI_RULE = (
    "must be an S3 URI with a prefix, such as s3://bucket/scripts, of letters, digits and !_.- "
    "between slashes, without .."
)
# Nodes run the script in a shell as root, so its name must not contain shell syntax.
_PART = path_part("A-Za-z0-9_-")


ScriptName = Annotated[
    str,
    Field(pattern=rf"^{_PART}(/{_PART})*$"),
    Message(
        "must be a path such as on_create.sh, of letters, digits and _.- between slashes, "
        "without .."
    ),
    ApiLimits(
        shape_name="sagemaker.ClusterLifeCycleConfigFileName",
        noun="a script's name such as on_create.sh",
    ),
]


class LifecycleConfig(OwnScriptsConfig):
    """Which script the nodes run, and when."""

    source_s3_uri: Annotated[
        str | None,
        Field(pattern=rf"^{_S3_URI}$"),
        Message(_S3_URI_RULE),
        Names("bucket"),
        ApiLimits(shape_name="sagemaker.S3Uri", noun="an S3 URI such as s3://bucket/prefix"),
        Api("SourceS3Uri"),
    ] = None
    """Bucket and prefix of existing scripts, in place of directory; the nodes' role gets permission
    to read them: s3://bucket/prefix. Default: those of the deployment."""

    on_create: Annotated[ScriptName | None, Api("OnCreate")] = None
    """Script under source_s3_uri that does all of a new node's setup. Default: that of the
    deployment."""

    on_init_complete: Annotated[ScriptName | None, OrchestratedBy(SLURM), Api("OnInitComplete")] = (
        None
    )
    """Script under source_s3_uri that runs after the AMI's own setup of Slurm, instead of
    on_create. Default: none."""

    def _findings(self) -> Iterator[Finding]:
        if self.directory is not None and self.source_s3_uri is not None:
            message = "must be left out with directory, whose scripts the deployment uploads"
            yield error(("source_s3_uri",), self.source_s3_uri, message)
            return
        scripts = [name for name in (self.on_create, self.on_init_complete) if name is not None]
        if len(scripts) > 1:
            message = "must be left out with on_create: a node runs one script or the other"
            yield error(("on_init_complete",), self.on_init_complete, message)
        elif self.source_s3_uri is not None and not scripts:
            message = "is missing: name the script under source_s3_uri (or set on_init_complete)"
            yield error(("on_create",), None, message)
        elif self.source_s3_uri is None and scripts:
            message = "is missing: say where the script is (or leave the script out too)"
            yield error(("source_s3_uri",), None, message)


_LONGEST_DOMAIN, _LONGEST_NAME = 253, 63
_SERVICE_DOMAIN = "sagemaker.amazonaws.com"
_KUBERNETES_DOMAINS = ("kubernetes.io", "k8s.io")


def key_refusal(key: str) -> str | None:
    """Say why a key cannot be used; None for one that can.

    https://kubernetes.io/docs/concepts/overview/working-with-objects/labels/#syntax-and-character-set
    https://docs.aws.amazon.com/sagemaker/latest/dg/sagemaker-hyperpod-eks-resiliency-node-labels.html
    """
    domain, _, name = key.rpartition("/")
    if len(domain) > _LONGEST_DOMAIN:
        return f"must have a domain of at most {_LONGEST_DOMAIN} characters before its slash"
    if len(name) > _LONGEST_NAME:
        return f"must have at most {_LONGEST_NAME} characters, or as many after its slash"
    if _under(domain, _SERVICE_DOMAIN):
        return f"must have another domain than {_SERVICE_DOMAIN}, whose keys HyperPod writes"
    return None


def key_reservation(key: str) -> str | None:
    """Return why a key should not be used, or None.

    https://kubernetes.io/docs/reference/labels-annotations-taints/
    """
    domain = key.rpartition("/")[0]
    for reserved in _KUBERNETES_DOMAINS:
        if _under(domain, reserved):
            return f"has a domain of {reserved}, which Kubernetes keeps for itself; take your own"
    return None


def _under(domain: str, parent: str) -> bool:
    return domain == parent or domain.endswith(f".{parent}")


def _label_findings(labels: Mapping[str, str]) -> Iterator[Finding]:
    limits = shape("sagemaker.ClusterKubernetesLabels")
    yield from limit_findings(len(labels), limits=limits, noun="the number of labels")
    keys = shape("sagemaker.ClusterKubernetesLabelKey")
    values = shape("sagemaker.ClusterKubernetesLabelValue")
    for key, value in labels.items():
        noun = "a label's key such as example.com/team"
        yield from limit_findings(key, limits=keys, noun=noun, path=(key,))
        noun = "a label's value such as research"
        yield from limit_findings(value, limits=values, noun=noun, path=(key,))


def _limit_schema(schema: dict[str, Any]) -> None:
    schema["maxProperties"] = shape("sagemaker.ClusterKubernetesLabels").maximum


Labels = Annotated[dict[str, str], judged(_label_findings), Field(json_schema_extra=_limit_schema)]
"""Kubernetes labels, keys with an optional DNS prefix."""


class TaintConfig(Section):
    """A taint, which repels pods that do not tolerate it."""

    key: Annotated[
        str,
        ApiLimits(
            shape_name="sagemaker.ClusterKubernetesTaintKey",
            noun="a taint's key such as example.com/team",
        ),
        Api("Key"),
    ]
    """Key of the taint, with an optional DNS prefix."""

    value: Annotated[
        str | None,
        ApiLimits(
            shape_name="sagemaker.ClusterKubernetesTaintValue",
            noun="a taint's value such as research",
        ),
        Api("Value"),
    ] = None
    """Value of the taint. Default: none."""

    effect: Annotated[
        str,
        ApiLimits(shape_name="sagemaker.ClusterKubernetesTaintEffect", noun="a taint's effect"),
        Api("Effect"),
    ]
    """NoSchedule, PreferNoSchedule or NoExecute."""

    @property
    def repels(self) -> bool:
        """Whether no pod without a toleration is put on the node."""
        return self.effect in ("NoSchedule", "NoExecute")
