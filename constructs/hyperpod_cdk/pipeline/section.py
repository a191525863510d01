"""The `pipeline` section: what CodePipeline deploys, from where, and to which environments."""

from dataclasses import replace
from pathlib import Path
from typing import Annotated

from pydantic import Field, ValidationInfo, field_validator

from hyperpod_cdk.schema.arns import AccountId, BucketName, DeploymentName, Region
from hyperpod_cdk.schema.errors import Finding, Findings, error, refuse, warning
from hyperpod_cdk.schema.limits import EmailAddress, Message, listed_twice
from hyperpod_cdk.schema.section import Listed, Section
from hyperpod_cdk.schema.tags import Tags

# https://docs.aws.amazon.com/codeconnections/latest/APIReference/API_GetConnection.html
ConnectionArn = Annotated[
    str,
    Field(
        pattern=r"^arn:aws[a-z-]*:(codeconnections|codestar-connections):[a-z0-9-]+:[0-9]{12}:"
        r"connection/[0-9a-f-]{36}$"
    ),
    Message(
        "must be the ARN of a connection, such as arn:aws:codeconnections:us-west-2:"
        "111122223333:connection/01234567-89ab-cdef-0123-456789abcdef"
    ),
]
# Groups of GitLab may be nested.
RepositoryId = Annotated[
    str,
    Field(pattern=r"^[\w.-]+(/[\w.-]+)+$"),
    Message("must be owner/name, as the host of the repository shows it"),
]
BranchName = Annotated[
    str,
    Field(pattern=r"^[\w./-]+$", max_length=255),
    Message("must be the name of a branch, as main"),
]
# https://docs.aws.amazon.com/codecommit/latest/APIReference/API_RepositoryMetadata.html
CodeCommitName = Annotated[
    str, Field(pattern=r"^[\w.-]+$", max_length=100), Message("must be the name of a repository")
]
ObjectKey = Annotated[
    str,
    Field(pattern=r"^[^/\s][^\s]*$", max_length=1024),
    Message("must be the key of an S3 object"),
]
EnvironmentName = Annotated[
    str,
    Field(pattern=r"^[a-z]([a-z0-9-]*[a-z0-9])?$", max_length=20),
    Message(
        "must be 1 to 20 lower-case letters, digits and inner hyphens, with a letter first: "
        "it names a stage of the pipeline"
    ),
]


class ConnectionSourceConfig(Section):
    """A repository on GitHub, GitLab or Bitbucket, through a connection of AWS CodeConnections."""

    arn: ConnectionArn
    """ARN of the connection, which you make and authorize in the console (docs: pipeline)."""

    repository: RepositoryId
    """The repository: owner/name."""

    branch: BranchName = "main"
    """Each push to this branch starts the pipeline."""


class CodeCommitSourceConfig(Section):
    """A repository of AWS CodeCommit in the pipeline's account and region."""

    repository: CodeCommitName
    """Name of the repository."""

    branch: BranchName = "main"
    """Each push to this branch starts the pipeline."""


class S3SourceConfig(Section):
    """An archive of the repository in S3."""

    bucket: BucketName
    """Bucket, versioned, in the pipeline's account and region, that sends events to EventBridge."""

    key: ObjectKey
    """Key of a .zip file; each new version of it starts the pipeline."""


class SourceConfig(Section):
    """The source repository: one of these."""

    connection: ConnectionSourceConfig | None = None
    """GitHub, GitLab or Bitbucket."""

    code_commit: CodeCommitSourceConfig | None = None
    """AWS CodeCommit."""

    s3: S3SourceConfig | None = None
    """A .zip file in S3."""

    def _findings(self) -> Findings:
        kinds = list(type(self).model_fields)
        given = [kind for kind in kinds if getattr(self, kind) is not None]
        named = {} if self.code_commit is None else self.code_commit.model_dump()
        for key, value in (named if self.s3 is None else self.s3.model_dump()).items():
            # https://docs.aws.amazon.com/aws-managed-policy/latest/reference/AmazonSageMakerFullAccess.html
            if key != "branch" and "sagemaker" in value.lower():
                message = (
                    "must not contain 'sagemaker': holders of AmazonSageMakerFullAccess may write "
                    "what has the word in its ARN, and what is there is deployed"
                )
                yield error((given[0], key), value, message)
        if len(given) != 1:
            yield Finding(value=given, message=f"must have exactly one of {', '.join(kinds)}")


class ChartArchiveConfig(Section):
    """A packaged chart of the HyperPod dependencies in S3."""

    bucket: BucketName
    """Bucket, which the pipeline's build must be allowed to read."""

    key: ObjectKey
    """Key of the .tgz file that `hyperpod-cdk charts` wrote."""

    sha256: Annotated[
        str, Field(pattern=r"^[0-9a-f]{64}$"), Message("must be a SHA-256 digest: 64 hex digits")
    ]
    """SHA-256 digest of the file; a build with another file fails."""


class EnvironmentConfig(Section):
    """An account and a region, and what is deployed there."""

    name: EnvironmentName
    """Name of the pipeline's stage, such as dev."""

    config: str
    """Configuration file of the deployment, relative to the folder of this file."""

    account: AccountId
    """AWS account: 12 digits in quotes."""

    region: Region | None = None
    """AWS region. Default: that of the configuration file."""

    approval: bool = False
    """Whether a person must approve each deployment, after reading what it changes. Default:
    false."""

    rehearse_change: bool = False
    """Whether the review also deploys the change on a local copy of what is deployed there, for the
    reviewer (docs: rehearse-change). Requires approval: true. Default: false."""

    def _findings(self) -> Findings:
        if self.rehearse_change and not self.approval:
            message = "takes approval: true: a person reads what the rehearsal says"
            yield error(("rehearse_change",), self.rehearse_change, message)

    @field_validator("config")
    @classmethod
    def _place(cls, value: str, info: ValidationInfo) -> str:
        return str(Path((info.context or {}).get("folder", ""), value))


class PipelineConfig(Section):
    """A pipeline that deploys every environment in turn on each change."""

    name: DeploymentName
    """Name of the pipeline; its stack is `<name>-pipeline`."""

    account: AccountId
    """AWS account of the pipeline: 12 digits in quotes."""

    region: Region
    """AWS region of the pipeline."""

    source: SourceConfig
    """Where the repository is."""

    environments: Annotated[Listed[EnvironmentConfig], Field(json_schema_extra={"minItems": 1})]
    """What is deployed, in this order. A failure stops the pipeline before the next one."""

    chart: ChartArchiveConfig | None = None
    """Chart of the HyperPod dependencies. Default: each build packages the official one, as
    pinned, from GitHub."""

    notification_emails: Listed[EmailAddress] = ()
    """Who gets an e-mail when an execution fails, or waits for approval. Each must confirm the
    subscription once. Default: none."""

    tags: Tags = Field(default_factory=dict)
    """Tags for the resources of the pipeline itself. Default: none."""

    @field_validator("environments")
    @classmethod
    def _check_names(cls, value: tuple[EnvironmentConfig, ...]) -> tuple[EnvironmentConfig, ...]:
        if not value:
            raise ValueError("must list at least one environment")
        names = [environment.name for environment in value]
        refuse(listed_twice(names, message="is taken by an environment above", key="name"))
        return value


def unapproved_accounts(pipeline: PipelineConfig) -> Findings:
    """Warn of accounts through which a push gets past the approval of an environment.

    Each environment trusts the pipeline's account. Where no approval comes first, a push can make a
    role there, and assume the roles of CDK that deploy to the others.
    """
    approved = {each.account for each in pipeline.environments if each.approval}
    for index, environment in enumerate(pipeline.environments):
        if environment.approval or not approved:
            continue
        if environment.account in {pipeline.account, *approved}:
            message = (
                "is the account of the pipeline or of an environment with an approval, and "
                f"{environment.name} has none: who can push can make roles there that deploy to "
                "the others; give it an account of its own, or set approval: true"
            )
            path = ("pipeline", "environments", index, "account")
            found = warning(path, environment.account, message)
            yield replace(found, rule="unapproved_accounts")


class PipelineFile(Section):
    """A configuration file that describes a pipeline, and nothing else."""

    pipeline: PipelineConfig
    """The pipeline that deploys the environments."""
