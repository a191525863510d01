"""The database of Slurm's accounting: RDS for MariaDB, or one that exists."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import partial
from typing import Any

from aws_cdk import Aws, CfnResource, Duration, RemovalPolicy
from aws_cdk import aws_ec2 as ec2
from aws_cdk import aws_iam as iam
from aws_cdk import aws_kms as kms
from aws_cdk import aws_rds as rds
from constructs import Construct

from hyperpod_cdk.encryption.data_keys import fixed_text
from hyperpod_cdk.network.subnets import PrivateSubnet, SubnetZone
from hyperpod_cdk.slurm.accounting_section import AccountingConfig
from hyperpod_cdk.synthesis.reasons import (
    NIST,
    acknowledge,
    inline_policy,
    skip_checkov,
    statement,
)
from hyperpod_cdk.synthesis.refusals import FixedValue

_KEY = ("cluster", "slurm", "accounting")
_PORT = 3306
_USER = "slurm"
# The newest version that also lets in what does not speak TLS; AWS does not say whether HyperPod's
# slurmdbd does. RDS chooses the minor version, and applies new ones.
# https://docs.aws.amazon.com/AmazonRDS/latest/UserGuide/mariadb-ssl-connections.require-ssl.html
_VERSION = rds.MariaDbEngineVersion.of("11.4", "11.4")
_LOGS = ("audit", "error", "general", "slowquery")
_ANOTHER_ONE = "the records would stay in the former database"
_COPY = "deploy under another name, and copy the records with mariadb-dump"


@dataclass(frozen=True, kw_only=True, slots=True)
class ImportedAccountingDatabase:
    """A database that exists, which the deployment neither changes nor deletes.

    Attributes:
        accounting: Its section.
    """

    accounting: AccountingConfig

    @property
    def outputs(self) -> Mapping[str, str]:
        """The outputs of the stack: none."""
        return {}

    @property
    def secret_arn(self) -> str:
        """ARN of the secret with the user and the password."""
        return str(self.accounting.secret_arn)

    @property
    def secret_key_arn(self) -> str | None:
        """ARN of the customer managed key of the secret, if there is one."""
        return self.accounting.secret_kms_key_arn

    def to_request(self) -> dict[str, Any]:
        """Return a ClusterAccountingDatabase."""
        return self.accounting.to_request()


class AccountingDatabase(Construct):
    """An RDS for MariaDB instance for Slurm's accounting, kept when its stack is deleted.

    Encrypted, not public, in subnets of its own without a way out, and open to the nodes alone. RDS
    keeps the password in a secret that it rotates every seven days, without a Lambda function:
    https://docs.aws.amazon.com/AmazonRDS/latest/UserGuide/rds-secrets-manager.html

    Args:
        vpc: The VPC.
        zones: The network's zones, for the subnets in order; None for each that is found by its
            name, as is one beyond them.
        security_group: That of the nodes, which connect on port 3306.
        accounting: Size, subnets, backups, and whether deleting the stack deletes it.
        encryption_key: KMS key of the records, their backups and the secret. Default: AWS's own
            keys.

    Attributes:
        database: The DB instance.
        secret_arn: ARN of the secret with the user and the password.
        secret_key_arn: ARN of the customer managed key of the secret, if there is one.
    """

    def __init__(
        self,
        scope: Construct,
        construct_id: str,
        *,
        vpc: ec2.IVpc,
        zones: Sequence[str | None] = (),
        security_group: ec2.ISecurityGroup,
        accounting: AccountingConfig,
        encryption_key: kms.IKey | None = None,
    ) -> None:
        super().__init__(scope, construct_id)
        self._accounting = accounting
        self._fix(accounting, encryption_key=encryption_key)
        group = ec2.SecurityGroup(
            self,
            "SecurityGroup",
            vpc=vpc,
            description="Slurm accounting database, for HyperPod nodes",
            allow_all_outbound=False,
        )
        group.add_ingress_rule(
            ec2.Peer.security_group_id(security_group.security_group_id),
            ec2.Port.tcp(_PORT),
            "slurmdbd on the controller",
        )
        subnet_group = rds.CfnDBSubnetGroup(
            self,
            "Subnets",
            db_subnet_group_description="Slurm accounting database",
            subnet_ids=self._subnet_ids(accounting, vpc=vpc, zones=zones),
        )
        self.database = rds.DatabaseInstance(
            self,
            "Database",
            engine=rds.DatabaseInstanceEngine.maria_db(version=_VERSION),
            instance_type=ec2.InstanceType(accounting.instance_class.removeprefix("db.")),
            credentials=rds.Credentials.from_username(_USER, encryption_key=encryption_key),
            manage_master_user_password=True,
            vpc=vpc,
            subnet_group=rds.SubnetGroup.from_subnet_group_name(
                self, "SubnetGroup", subnet_group.ref
            ),
            security_groups=[group],
            publicly_accessible=False,
            port=_PORT,
            storage_type=rds.StorageType.GP3,
            allocated_storage=accounting.storage_gib,
            storage_encrypted=True,
            storage_encryption_key=encryption_key,
            multi_az=accounting.multi_az,
            backup_retention=Duration.days(accounting.backup_days),
            copy_tags_to_snapshot=True,
            auto_minor_version_upgrade=True,
            deletion_protection=not accounting.delete_with_stack,
        )
        self._keep(accounting)
        resource = self.database.node.default_child
        assert isinstance(resource, rds.CfnDBInstance)  # noqa: S101 - what the L2 makes
        self.secret_arn: str = resource.attr_master_user_secret_secret_arn
        self.secret_key_arn = None if encryption_key is None else encryption_key.key_arn
        self._acknowledge(resource)

    def to_request(self) -> dict[str, Any]:
        """Return a ClusterAccountingDatabase."""
        return {
            **self._accounting.to_request(),
            "Endpoint": self.database.db_instance_endpoint_address,
            "SecretArn": self.secret_arn,
        }

    @property
    def outputs(self) -> Mapping[str, str]:
        """The outputs of its stack."""
        return {
            "AccountingDatabaseId": self.database.instance_identifier,
            "AccountingEndpoint": self.database.db_instance_endpoint_address,
            "AccountingSecretArn": self.secret_arn,
        }

    def _subnet_ids(
        self, accounting: AccountingConfig, *, vpc: ec2.IVpc, zones: Sequence[str | None]
    ) -> list[str]:
        if accounting.subnet_ids:
            return list(accounting.subnet_ids)
        return [
            PrivateSubnet(
                self,
                f"Private{index + 1}",
                vpc=vpc,
                cidr=cidr,
                zone=SubnetZone(index=index, zone=zones[index] if index < len(zones) else None),
            ).subnet.subnet_id
            for index, cidr in enumerate(accounting.subnet_cidrs)
        ]

    def _keep(self, accounting: AccountingConfig) -> None:
        """Keep the database, and what it is in: as long as it is there, EC2 deletes none of it."""
        kept = RemovalPolicy.RETAIN_ON_UPDATE_OR_DELETE
        policy = RemovalPolicy.DESTROY if accounting.delete_with_stack else kept
        for construct in self.node.find_all():
            if isinstance(construct, CfnResource):
                construct.apply_removal_policy(policy)

    def _fix(self, accounting: AccountingConfig, *, encryption_key: kms.IKey | None) -> None:
        subnets = "subnet_ids" if accounting.subnet_ids else "subnet_cidrs"
        FixedValue(
            self,
            "SubnetValues",
            key=(*_KEY, subnets),
            value=", ".join(getattr(accounting, subnets)),
            reason="RDS does not move a database to other subnets",
            instead=_COPY,
        )
        FixedValue(
            self,
            "KmsKeyArn",
            key=("encryption",),
            value=fixed_text(encryption_key),
            reason="the database would be replaced by an empty one",
            instead="leave the database out by encryption.accounting: false",
        )

    def _acknowledge(self, resource: rds.CfnDBInstance) -> None:
        monitoring = "RDS's metrics are in CloudWatch without it; records of jobs are a light load."
        logs = (
            "Its logs are kept by RDS, which shows them by `aws rds "
            "download-db-log-file-portion`; copies would hold Slurm's queries, and are billed."
        )
        standby = (
            "`accounting.multi_az` adds a standby; by default slurmctld keeps records until the "
            "database is back."
        )
        unprotected = (
            "The configuration says twice that the records are deleted with the stack; by default "
            "deletion protection is on."
        )
        reasons = {
            "AwsSolutions-RDS11": (
                "slurmdbd's own default; the security group admits the nodes alone, and a port is "
                "no secret."
            ),
            f"{NIST}RDSEnhancedMonitoringEnabled": monitoring,
            **{f"{NIST}RDSLoggingEnabled[LogExport::{each}]": logs for each in _LOGS},
            f"{NIST}RDSInBackupPlan": (
                "RDS backs it up every day by itself; an AWS Backup plan is the account's."
            ),
        }
        skipped = {"CKV_AWS_118": monitoring}
        if not self._accounting.multi_az:
            reasons |= {"AwsSolutions-RDS3": standby, f"{NIST}RDSMultiAZSupport": standby}
            skipped |= {"CKV_AWS_157": standby}
        if self._accounting.delete_with_stack:
            reasons |= {
                "AwsSolutions-RDS10": unprotected,
                f"{NIST}RDSInstanceDeletionProtectionEnabled": unprotected,
            }
        version = (
            "A major version: RDS chooses the minor one; a fixed one would be withdrawn in time."
        )
        acknowledge(self.database, {**reasons, "CloudFormation-Validate::E9006": version})
        skip_checkov(self, resource_type="AWS::RDS::DBInstance", reasons=skipped)
        # cfn-lint reads templates, and no acknowledgment of the CDK's.
        resource.add_metadata("cfn-lint", {"config": {"ignore_checks": ["E3691"]}})


def accounting_database_of(
    scope: Construct,
    construct_id: str,
    *,
    vpc: ec2.IVpc,
    zones: Sequence[str | None] = (),
    security_group: ec2.ISecurityGroup,
    accounting: AccountingConfig,
    encryption_key: kms.IKey | None = None,
) -> AccountingDatabase | ImportedAccountingDatabase:
    """Return a new database, or the existing one that its section names.

    The arguments are those of `AccountingDatabase`.
    """
    FixedValue(
        scope,
        f"{construct_id}CreatedAs",
        key=_KEY,
        value=accounting.created_as,
        reason=_ANOTHER_ONE,
        instead=_COPY,
    )
    if accounting.exists:
        return ImportedAccountingDatabase(accounting=accounting)
    return AccountingDatabase(
        scope,
        construct_id,
        vpc=vpc,
        zones=zones,
        security_group=security_group,
        accounting=accounting,
        encryption_key=encryption_key,
    )


def accounting_statements(
    scope: Construct, database: AccountingDatabase | ImportedAccountingDatabase
) -> list[iam.PolicyStatement]:
    """Return what the controller needs to read the user and the password of slurmdbd.

    https://docs.aws.amazon.com/sagemaker/latest/APIReference/API_ClusterAccountingDatabase.html
    """
    add = partial(statement, scope, added_by="`cluster.slurm.accounting`")
    statements = [
        add(
            sid="ReadAccountingSecret",
            why="The controller reads the user and the password of the accounting database.",
            actions=["secretsmanager:GetSecretValue"],
            resources=[database.secret_arn],
        )
    ]
    if database.secret_key_arn is not None:
        statements.append(
            add(
                sid="DecryptAccountingSecret",
                why="A key of yours encrypts that secret, which is read through Secrets Manager.",
                actions=["kms:Decrypt"],
                resources=[database.secret_key_arn],
                conditions={
                    "StringEquals": {
                        "kms:ViaService": f"secretsmanager.{Aws.REGION}.{Aws.URL_SUFFIX}",
                        "kms:EncryptionContext:SecretARN": database.secret_arn,
                    }
                },
            )
        )
    return statements


class AccountingAccess(Construct):
    """The right of the controller to read the secret of the database, in a policy of its own.

    Args:
        database: The database, perhaps of another stack than the role.
        role: The role of the controller, which no other node runs as.
    """

    def __init__(
        self,
        scope: Construct,
        construct_id: str,
        *,
        database: AccountingDatabase | ImportedAccountingDatabase,
        role: iam.IRole,
    ) -> None:
        super().__init__(scope, construct_id)
        statements = accounting_statements(self, database)
        inline_policy(self, "Policy", role=role, statements=statements)
