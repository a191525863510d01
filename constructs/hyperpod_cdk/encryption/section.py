"""The `encryption` section: a customer managed KMS key, and what it encrypts."""

from typing import Annotated

from hyperpod_cdk.schema.arns import KmsKeyArn
from hyperpod_cdk.schema.errors import Finding, Findings
from hyperpod_cdk.schema.section import SLURM, OrchestratedBy, Section


class EncryptionConfig(Section):
    """A customer managed KMS key, and what it encrypts; without one, AWS keys are used."""

    create_kms_key: bool = False
    """Whether the deployment makes a KMS key, rotated every year, with a policy for what it
    encrypts. The key stays when its stack is deleted. Default: false."""

    kms_key_arn: KmsKeyArn | None = None
    """ARN of a symmetric KMS key of your own in this region, instead of create_kms_key; you manage
    its policy, and `hyperpod-cdk preflight` checks it. Default: none."""

    eks_secrets: bool = True
    """Whether the key encrypts Kubernetes secrets; eks.secrets_kms_key_arn takes precedence. It
    cannot be changed once it is deployed. Default: true."""

    lifecycle_bucket: bool = True
    """Whether the key encrypts the bucket of the lifecycle scripts. Default: true."""

    file_system: bool = True
    """Whether the key encrypts the file system. It cannot be changed once it is deployed. Default:
    true."""

    node_volumes: bool = True
    """Whether the key encrypts root and second volumes of the nodes that name no key themselves;
    needs continuous provisioning. An existing group keeps its keys; to use the key, give the group
    another name. Default: true."""

    logs: bool = True
    """Whether the key encrypts the logs in CloudWatch: of the control plane, the VPC and the
    provisioner. Default: true."""

    images: bool = True
    """Whether the key encrypts the repository of training images. It cannot be changed once it is
    deployed. Default: true."""

    accounting: Annotated[bool, OrchestratedBy(SLURM)] = True
    """Whether the key encrypts the database of Slurm's accounting that is made, its backups and its
    secret. It cannot be changed once it is deployed. Default: true."""

    @property
    def has_key(self) -> bool:
        """Whether there is a key."""
        return self.create_kms_key or self.kms_key_arn is not None

    @property
    def encrypts_volumes(self) -> bool:
        """Whether the key encrypts volumes of nodes."""
        return self.has_key and self.node_volumes

    def _findings(self) -> Findings:
        if self.create_kms_key and self.kms_key_arn is not None:
            message = "must be left out with create_kms_key, which makes a key"
            yield Finding(path=("kms_key_arn",), value=self.kms_key_arn, message=message)
