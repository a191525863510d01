"""How pods mount file systems: volumes and claims, and the rights of the driver that makes some."""

from collections.abc import Mapping, Sequence
from functools import partial
from typing import Any

from aws_cdk import Aws, Stack
from aws_cdk import aws_ec2 as ec2
from aws_cdk import aws_eks_v2 as eks
from aws_cdk import aws_iam as iam
from aws_cdk import aws_kms as kms
from constructs import Construct, IDependable

from hyperpod_cdk.eks.pod_identity import PodRole
from hyperpod_cdk.helm.images import image_of_chart, mirrored
from hyperpod_cdk.helm.release import HelmRelease
from hyperpod_cdk.provisioner.provisioner import Provisioner
from hyperpod_cdk.schema.errors import KeyPath
from hyperpod_cdk.storage.claim_section import READ_ONLY, ClaimConfig
from hyperpod_cdk.storage.lustre_section import LustreConfig
from hyperpod_cdk.storage.section import PROVISIONED_TAG, HomeDirectoriesConfig
from hyperpod_cdk.synthesis.assets import asset_directory
from hyperpod_cdk.synthesis.reasons import inline_policy, statement
from hyperpod_cdk.synthesis.refusals import FixedValue
from hyperpod_shared.owner import STACK_TAG

# https://github.com/kubernetes-sigs/aws-fsx-csi-driver/blob/master/charts/aws-fsx-csi-driver/values.yaml
_DRIVER_NAMESPACE, _SERVICE_ACCOUNT = "kube-system", "fsx-csi-controller-sa"


# CloudFormation's own tag is on all that its stacks make, and a name on most of what people make.
_OF_OTHERS = (STACK_TAG, "aws:cloudformation:stack-id", "Name")


class FsxCsiDriverRole(PodRole):
    """The role of the FSx CSI driver's controller, by EKS Pod Identity.

    It creates file systems with a tag of the cluster, and changes and deletes those that have it.
    It does not put the tag on what is a deployment's or of another stack of CloudFormation's; FSx
    has no condition for a tag that comes with the creation, so one that somebody made by hand, and
    that has no name, is only protected by the driver's own code.
    https://docs.aws.amazon.com/service-authorization/latest/reference/list_amazonfsx.html

    Args:
        cluster: The EKS cluster.
        encryption_key: KMS key of the file systems. Default: AWS's own key for FSx.

    Attributes:
        role: The role.
    """

    def __init__(
        self,
        scope: Construct,
        construct_id: str,
        *,
        cluster: eks.ICluster,
        encryption_key: kms.IKey | None = None,
    ) -> None:
        super().__init__(
            scope,
            construct_id,
            cluster=cluster,
            namespace=_DRIVER_NAMESPACE,
            service_account=_SERVICE_ACCOUNT,
            description="Creates and deletes file systems for claims of the cluster",
        )
        name = cluster.cluster_name
        file_systems = Stack.of(self).format_arn(
            service="fsx", resource="file-system", resource_name="*"
        )
        add = partial(statement, self, added_by="`storage.dynamic_provisioning`")
        statements = [
            add(
                sid="CreateFileSystems",
                why="A claim gets a file system, with a tag of the cluster.",
                actions=["fsx:CreateFileSystem", "fsx:TagResource"],
                resources=[file_systems],
                wildcard="FSx draws the IDs of file systems; a tag of the cluster limits which.",
                conditions={
                    "StringEquals": {f"aws:RequestTag/{PROVISIONED_TAG}": name},
                    # A new file system has no tag yet.
                    "Null": {f"aws:ResourceTag/{tag}": "true" for tag in _OF_OTHERS},
                },
            ),
            add(
                sid="SpareOtherFileSystems",
                effect=iam.Effect.DENY,
                why="It never changes the file systems of a deployment.",
                actions=["fsx:DeleteFileSystem", "fsx:TagResource", "fsx:UpdateFileSystem"],
                resources=[file_systems],
                conditions={"Null": {f"aws:ResourceTag/{STACK_TAG}": "false"}},
            ),
            add(
                sid="ChangeOwnFileSystems",
                why="It grows and deletes file systems with that tag, no others.",
                actions=["fsx:UpdateFileSystem", "fsx:DeleteFileSystem"],
                resources=[file_systems],
                conditions={"StringEquals": {f"aws:ResourceTag/{PROVISIONED_TAG}": name}},
            ),
            add(
                sid="DescribeFileSystems",
                why="It waits until a file system can be mounted.",
                actions=["fsx:DescribeFileSystems"],
                resources=["*"],
                wildcard="It only reads, and AWS takes no resource for it.",
            ),
            # https://docs.aws.amazon.com/aws-managed-policy/latest/reference/AmazonFSxFullAccess.html
            add(
                sid="CheckSecurityGroups",
                why="FSx looks at the security group of a new file system.",
                actions=["ec2:GetSecurityGroupsForVpc"],
                resources=["*"],
                conditions={"ForAnyValue:StringEquals": {"aws:CalledVia": "fsx.amazonaws.com"}},
            ),
            # https://docs.aws.amazon.com/fsx/latest/LustreGuide/using-service-linked-roles.html
            add(
                sid="CreateServiceLinkedRole",
                why="The first file system of an account makes FSx's role.",
                actions=["iam:CreateServiceLinkedRole"],
                resources=[
                    f"arn:{Aws.PARTITION}:iam::{Aws.ACCOUNT_ID}:role/aws-service-role/"
                    "fsx.amazonaws.com/AWSServiceRoleForAmazonFSx"
                ],
                conditions={"StringEquals": {"iam:AWSServiceName": "fsx.amazonaws.com"}},
            ),
            *([] if encryption_key is None else self._use(encryption_key)),
        ]
        inline_policy(
            self,
            "Policy",
            role=self.role,
            statements=statements,
        )

    def _use(self, key: kms.IKey) -> Sequence[iam.PolicyStatement]:
        """Return the rights on a key that FSx asks of the creator of a file system with it.

        https://docs.aws.amazon.com/fsx/latest/LustreGuide/encryption-at-rest.html
        """
        through = {"kms:ViaService": f"fsx.{Stack.of(self).region}.{Aws.URL_SUFFIX}"}
        added_by = "`storage.dynamic_provisioning` with `encryption.file_system`"
        add = partial(statement, self, added_by=added_by)
        return [
            add(
                sid="EncryptFileSystems",
                why="FSx encrypts the new file systems with the key.",
                actions=["kms:Decrypt", "kms:DescribeKey", "kms:GenerateDataKeyWithoutPlaintext"],
                resources=[key.key_arn],
                conditions={"StringEquals": through},
            ),
            add(
                sid="LetFsxUseTheKey",
                why="FSx goes on using the key, by a grant that it alone gets.",
                actions=["kms:CreateGrant"],
                resources=[key.key_arn],
                conditions={
                    "Bool": {"kms:GrantIsForAWSResource": "true"},
                    "StringEquals": through,
                },
            ),
        ]


class FileSystemAvailability(Construct):
    """Waits until a file system can be mounted.

    CloudFormation waits for that too, except in express mode; nor does it say then which attributes
    of a file system it knows.

    Args:
        file_system_id: The file system's ID.
        provisioner: Asks FSx.

    Attributes:
        dns_name: The file system's DNS name; resolves once it can be mounted.
        mount_name: The mount name of a Lustre file system; resolves once it can be mounted.
    """

    def __init__(
        self,
        scope: Construct,
        construct_id: str,
        *,
        file_system_id: str,
        provisioner: Provisioner,
    ) -> None:
        super().__init__(scope, construct_id)
        right = statement(
            self,
            sid="DescribeFileSystem",
            why=(
                "It asks whether the file system can be mounted, and under which names. AWS takes "
                "no resource for this."
            ),
            actions=["fsx:DescribeFileSystems"],
            resources=["*"],
            wildcard="It only reads, and AWS takes no resource for it.",
        )
        resource = provisioner.custom_resource(
            self,
            "Resource",
            resource_type="Custom::FileSystemAvailability",
            properties={"FileSystemId": file_system_id},
            statements=[right],
        )
        self.dns_name = resource.get_att_string("DnsName")
        self.mount_name = resource.get_att_string("MountName")


_NAMESPACE = "kube-system"
_FIRST = "fsx"
# The path of OpenZFS's root volume, the only volume.
_EXPORT_PATH = "/fsx"
_THROUGHPUT, _COMPRESSION = "perUnitStorageThroughput", "dataCompressionType"


class FileSystemClaims(HelmRelease):
    """A Helm release with the volumes and claims of one file system.

    A volume is bound to one claim, so each claim has a volume of its own. Deleting the release
    deletes them and no file.

    Args:
        cluster: The EKS cluster.
        provisioner: Runs helm.
        file_system_id: The file system.
        mount: Its names, once it can be mounted.
        files: Its section.
        key: Where the section is in the configuration.
        namespaces: Those of its claims that the release makes, or takes over if no release has
            them.
        provisioning: Parameters of the StorageClass by which a claim gets a file system of its own.
            Default: there is none.
        image_registry: Mirror of the image that makes the directories of claims. Default: none.
        depends_on: What else it needs, such as what makes the namespaces of other claims.
            Default: nothing.
    """

    def __init__(
        self,
        scope: Construct,
        construct_id: str,
        *,
        cluster: eks.ICluster,
        provisioner: Provisioner,
        file_system_id: str,
        mount: FileSystemAvailability,
        files: LustreConfig | HomeDirectoriesConfig,
        key: KeyPath,
        namespaces: Sequence[str],
        provisioning: Mapping[str, str] | None = None,
        image_registry: str | None = None,
        depends_on: Sequence[IDependable] = (),
    ) -> None:
        super().__init__(
            scope,
            construct_id,
            cluster=cluster,
            provisioner=provisioner,
            chart=asset_directory("charts") / "fsx-storage",
            release=f"{files.label}-storage",
            namespace=_NAMESPACE,
            values={
                "fileSystemId": file_system_id,
                "dnsName": mount.dns_name,
                **_of_kind(files, mount=mount),
                **_claims(files, image_registry=image_registry),
                **({"namespaces": [*namespaces]} if namespaces else {}),
                **({"dynamicProvisioning": dict(provisioning)} if provisioning else {}),
            },
            adopt_namespaces=namespaces,
            depends_on=depends_on,
        )
        fixed = {"throughput_mbps_per_tib": _THROUGHPUT, "compression": _COMPRESSION}
        for own, name in fixed.items() if provisioning else ():
            FixedValue(
                self,
                f"Provisioned:{own}",
                key=(*key, own),
                value=(provisioning or {}).get(name),
                reason="it is a parameter of the StorageClass fsx-dynamic, which Kubernetes does "
                "not change",
                instead="deploy with dynamic_provisioning: false in between, which deletes the "
                "class, and no file system",
            )
        for index, claim in enumerate(files.claims):
            name = claim.name or f"{files.label}-claim"
            if claim == ClaimConfig():
                continue  # as that of 0.1.0
            if claim.team is None:
                FixedValue(
                    self,
                    f"Access:{claim.namespace}:{name}",
                    key=(*key, "claims", index, "access"),
                    value=claim.access,
                    reason="Kubernetes does not change a claim",
                    instead="write a claim of another name",
                )
            if claim.directory is not None:
                FixedValue(
                    self,
                    f"Directory:{claim.namespace}:{name}",
                    key=(*key, "claims", index, "directory")
                    if claim.team is None
                    else ("teams", claim.team, "directory"),
                    value=claim.directory,
                    reason="Kubernetes does not change a volume",
                    instead="write a claim of another name"
                    if claim.team is None
                    else "deploy with directory: null in between, which deletes no file",
                )


def provisioning_parameters(
    *,
    subnet: ec2.ISubnet,
    security_group: ec2.ISecurityGroup,
    storage: LustreConfig,
    eks_cluster_name: str,
    encryption_key: kms.IKey | None = None,
) -> dict[str, str]:
    """Return the parameters of a StorageClass whose file systems are like the first one.

    The driver tags them with the name of the cluster. Without a key, AWS's own for FSx encrypts
    them.

    https://github.com/kubernetes-sigs/aws-fsx-csi-driver/blob/master/examples/kubernetes/dynamic_provisioning/README.md
    """
    encrypted = {} if encryption_key is None else {"kmsKeyId": encryption_key.key_arn}
    return {
        "subnetId": subnet.subnet_id,
        "securityGroupIds": security_group.security_group_id,
        "deploymentType": "PERSISTENT_2",
        _THROUGHPUT: str(storage.throughput_mbps_per_tib),
        _COMPRESSION: storage.compression,
        "fileSystemTypeVersion": "2.15",
        "extraTags": f"{PROVISIONED_TAG}={eks_cluster_name}",
        **encrypted,
    }


def _of_kind(
    files: LustreConfig | HomeDirectoriesConfig, *, mount: FileSystemAvailability
) -> dict[str, Any]:
    if isinstance(files, HomeDirectoriesConfig):
        return {"exportPath": _EXPORT_PATH, "capacityGiB": files.capacity_gib}
    # An existing file system, or one that grows with its files, has no known size.
    sized = not files.is_tiered and files.file_system_id is None
    return {
        "mountName": mount.mount_name,
        **({"capacityGiB": files.capacity_gib} if sized else {}),
    }


def _claims(
    files: LustreConfig | HomeDirectoriesConfig, *, image_registry: str | None
) -> dict[str, Any]:
    """Return the values that differ from the chart's own, which are those of one claim."""
    is_first = files.label == _FIRST
    values: dict[str, Any] = {} if is_first else {"name": files.label}
    if not is_first or files.claims != (ClaimConfig(),):
        values["claims"] = [_claim(each, label=files.label) for each in files.claims]
    if image_registry is not None and any(each.directory for each in files.claims):
        values["image"] = mirrored(image_of_chart("fsx-storage"), registry=image_registry)
    return values


def _claim(claim: ClaimConfig, *, label: str) -> dict[str, Any]:
    name = claim.name or f"{label}-claim"
    is_usual = (claim.namespace, name) == (ClaimConfig().namespace, f"{label}-claim")
    return {
        "namespace": claim.namespace,
        "name": name,
        "volume": f"{label}-pv" if is_usual else f"{label}-pv-{claim.namespace}-{name}",
        "readOnly": claim.access == READ_ONLY,
        **({} if claim.directory is None else {"directory": claim.directory}),
        **({} if claim.owner is None else {"owner": claim.owner}),
    }
