"""The `accounting` section: where Slurm keeps its accounting, in a new database or an existing one.

https://docs.aws.amazon.com/sagemaker/latest/APIReference/API_ClusterAccountingDatabase.html
"""

from collections.abc import Iterator
from typing import Annotated

from pydantic import Field

from hyperpod_cdk.schema.arns import KmsKeyArn, SubnetId
from hyperpod_cdk.schema.cidrs import AllocatableCidr, overlap_findings
from hyperpod_cdk.schema.errors import Finding, error
from hyperpod_cdk.schema.limits import ApiLimits, Message
from hyperpod_cdk.schema.named_resources import Names
from hyperpod_cdk.schema.section import Api, Listed, Section
from hyperpod_cdk.schema.words import after_deletion

# A DB subnet group covers two zones, also for an instance in one.
# https://docs.aws.amazon.com/AmazonRDS/latest/UserGuide/USER_VPC.WorkingWithRDSInstanceinaVPC.html
_LEAST_ZONES = 2
# https://docs.aws.amazon.com/AmazonRDS/latest/UserGuide/CHAP_Storage.html
_LEAST_GIB, _MOST_GIB = 20, 65536
# https://docs.aws.amazon.com/AmazonRDS/latest/UserGuide/USER_WorkingWithAutomatedBackups.html
_MOST_BACKUP_DAYS = 35

_OF_EXISTING = ("endpoint", "secret_arn", "secret_kms_key_arn", "port")
_OF_BOTH = ("name",)


class AccountingConfig(Section):
    """The database of Slurm's accounting: a new RDS for MariaDB, or one that exists."""

    endpoint: Annotated[
        str | None,
        ApiLimits(
            shape_name="sagemaker.ClusterAccountingDatabaseEndpoint",
            noun="the host name of a database such as slurm.example.com",
        ),
        Api("Endpoint"),
        Field(examples=["slurm.abcdefghijkl.us-west-2.rds.amazonaws.com"]),
    ] = None
    """Host name of a MySQL or MariaDB database that exists, which the nodes' security group
    reaches; needs secret_arn. Default: none, a new database is made."""

    secret_arn: Annotated[
        str | None,
        ApiLimits(
            shape_name="sagemaker.ClusterAccountingDatabaseSecretArn",
            noun="the ARN of a secret such as "
            "arn:aws:secretsmanager:us-west-2:111122223333:secret:slurm-AbCdEf",
        ),
        Names("secret"),
        Api("SecretArn"),
        Field(
            examples=[
                "arn:aws:secretsmanager:us-west-2:111122223333:secret:slurm-accounting-AbCdEf"
            ]
        ),
    ] = None
    """ARN of the Secrets Manager secret with the `username` and `password` of the existing
    database; the user must be allowed to create the schema. Default: that of the new database."""

    secret_kms_key_arn: KmsKeyArn | None = None
    """ARN of the customer managed KMS key that encrypts the existing secret, so that the nodes may
    use it. Default: none, the AWS managed key, which needs no right."""

    port: Annotated[
        int | None,
        ApiLimits(shape_name="sagemaker.ClusterAccountingDatabasePort", noun="a port"),
        Api("Port"),
        Field(examples=[3307]),
    ] = None
    """Port of the existing database. Default: 3306, which a new one has."""

    name: Annotated[
        str | None,
        ApiLimits(
            shape_name="sagemaker.ClusterAccountingDatabaseName",
            noun="the name of a database schema such as slurm_acct_db",
        ),
        Api("Name"),
        Field(examples=["slurm_acct_db"]),
    ] = None
    """Name of the schema, in a new database or an existing one. Default: HyperPod's,
    slurm_acct_db_ and the cluster's ID, so that clusters can share a database."""

    instance_class: Annotated[
        str,
        Field(pattern=r"^db\.[a-z0-9]+(-[a-z0-9]+)*\.[a-z0-9]+$"),
        Message("must be an instance class of RDS such as db.t4g.small"),
        Field(examples=["db.m7g.large"]),
    ] = "db.t4g.small"
    """Instance class of the new database. A change stops it for minutes. Default: db.t4g.small."""

    storage_gib: Annotated[int, Field(ge=_LEAST_GIB, le=_MOST_GIB)] = _LEAST_GIB
    """Size of the new database's gp3 volume in GiB, 20 to 65536. It can grow later, and never
    shrink. Default: 20."""

    backup_days: Annotated[int, Field(ge=1, le=_MOST_BACKUP_DAYS)] = 7
    """Days for which RDS keeps its daily backups of the new database, 1 to 35. Default: 7."""

    multi_az: bool = False
    """Whether the new database has a standby in the second zone, which doubles its price. Default:
    false: slurmctld holds records back while the database is away."""

    subnet_cidrs: Annotated[
        Listed[AllocatableCidr], Field(examples=[["10.192.12.0/28", "10.192.12.16/28"]])
    ] = ("10.192.9.0/28", "10.192.9.16/28")
    """Private subnets that are made for the new database, without a route to the internet, one in
    each of the network's first zones, two at least. They cannot be changed later."""

    subnet_ids: Annotated[
        Listed[SubnetId],
        Field(examples=[["subnet-0fedcba9876543211", "subnet-0fedcba9876543212"]]),
    ] = ()
    """IDs of subnets that exist, in two zones at least, in place of subnet_cidrs; needs
    network.vpc_id. They cannot be changed later. Default: none."""

    delete_with_stack: bool = False
    """First half of a two-step switch: whether deleting the stack deletes the new database and its
    backups. Default: false, both stay and are billed, and RDS refuses to delete the database."""

    i_understand_all_records_are_deleted: bool = False
    """Second half of the switch; without it delete_with_stack is refused."""

    @property
    def exists(self) -> bool:
        """Whether the database is there already."""
        return self.endpoint is not None

    @property
    def summary(self) -> str:
        """What the database that it makes is, in a line."""
        return (
            f"RDS for MariaDB {self.instance_class} of {self.storage_gib} GiB for Slurm's "
            f"accounting, {after_deletion(delete_with_stack=self.delete_with_stack)}"
        )

    @property
    def created_as(self) -> str:
        """What it was created as, and cannot become later: the records would stay behind."""
        return "a new database" if self.endpoint is None else self.endpoint

    def _findings(self) -> Iterator[Finding]:
        given = self.model_fields_set
        if not self.exists:
            for key in _OF_EXISTING:
                if getattr(self, key) is not None:
                    message = "needs endpoint with it: both describe a database that exists"
                    yield error((key,), getattr(self, key), message)
                    return
        elif further := sorted(given - {*_OF_EXISTING, *_OF_BOTH}):
            message = (
                f"names a database that exists, so {', '.join(further)} must be left out: "
                "they describe a new one"
            )
            yield error(("endpoint",), self.endpoint, message)
        elif self.secret_arn is None:
            message = "needs secret_arn with it, the secret with its username and password"
            yield error(("endpoint",), self.endpoint, message)
        yield from self._subnet_findings()
        yield from self._deletion_findings()

    def _subnet_findings(self) -> Iterator[Finding]:
        key = "subnet_ids" if self.subnet_ids else "subnet_cidrs"
        values: tuple[str, ...] = getattr(self, key)
        if self.subnet_ids and "subnet_cidrs" in self.model_fields_set:
            message = "must be left out with subnet_ids, which are used in their place"
            yield error(("subnet_cidrs",), list(self.subnet_cidrs), message)
        if len(set(values)) < _LEAST_ZONES:
            message = "must list two subnets at least: RDS wants them in two zones"
            yield error((key,), list(values), message)
        if not self.subnet_ids:
            named = [(("subnet_cidrs", index), cidr) for index, cidr in enumerate(values)]
            yield from overlap_findings(named, others=())

    def _deletion_findings(self) -> Iterator[Finding]:
        first, second = "delete_with_stack", "i_understand_all_records_are_deleted"
        if self.delete_with_stack != self.i_understand_all_records_are_deleted:
            path, other = (second, first) if self.delete_with_stack else (first, second)
            message = (
                f"must be true too when {other} is: both delete every record together with the "
                "stack; without both the database stays"
            )
            yield error((path,), False, message)
