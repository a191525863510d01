"""What CloudFormation's resource schemas say of a template's resources and of their changes.

The data file is written by `make generate`. The terms are those of
https://docs.aws.amazon.com/cloudformation-cli/latest/userguide/resource-type-schema.html.
"""

import functools
import json
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

DATA_FILE = Path(__file__).with_name("resource_schemas.json")

Properties = Mapping[str, Any]
PropertyPath = tuple[str, ...]
"""Names from the top of the properties down; `*` stands for each item of a list."""

# UpdateFileSystem takes none of these (its input in botocore's model of FSx), so another value
# needs another file system. FSx has a legacy type: the schema lists its top-level properties only.
_LUSTRE_CREATE_ONLY = (
    "CopyTagsToBackups",
    "DeploymentType",
    "DriveCacheType",
    "EfaEnabled",
    "ExportPath",
    "ImportPath",
    "ImportedFileChunkSize",
)
_CREATE_ONLY_NOT_IN_THE_SCHEMA: Mapping[str, tuple[PropertyPath, ...]] = {
    "AWS::FSx::FileSystem": tuple(("LustreConfiguration", name) for name in _LUSTRE_CREATE_ONLY)
}

# FSx has a legacy type, whose schema does not say so:
# https://docs.aws.amazon.com/AWSCloudFormation/latest/TemplateReference/aws-resource-fsx-filesystem.html
_TAGS_NOT_IN_THE_SCHEMA = {"AWS::CodeBuild::Project": "Tags", "AWS::FSx::FileSystem": "Tags"}

PASSES_ROLES_TO: Mapping[str, tuple[str, ...]] = {"AWS::EKS::Nodegroup": ("eks.amazonaws.com",)}
"""Services to which a type passes roles, besides those that the roles trust.

https://docs.aws.amazon.com/step-functions/latest/dg/eks-iam.html
"""

# FSx gives its service-linked role the rights on a linked bucket with those of the caller,
# https://docs.aws.amazon.com/fsx/latest/LustreGuide/setting-up.html#fsx-adding-permissions-s3,
# and refuses a caller without all of the S3 actions, in these words:
# https://github.com/aws-samples/amazon-eks-machine-learning-with-terraform-and-kubeflow/issues/91
_LINK_TO_S3 = ("iam:AttachRolePolicy", "s3:Get*", "s3:List*", "s3:PutObject")
_PERMISSIONS_NOT_IN_THE_SCHEMA: Mapping[str, Mapping[str, tuple[str, ...]]] = {
    "AWS::FSx::DataRepositoryAssociation": {"create": _LINK_TO_S3, "update": _LINK_TO_S3},
    # It has no handlers: the Service Authorization Reference and what FSx documents,
    # https://docs.aws.amazon.com/fsx/latest/LustreGuide/security-iam-awsmanpol.html and
    # https://docs.aws.amazon.com/fsx/latest/LustreGuide/encryption-at-rest.html.
    "AWS::FSx::FileSystem": {
        "create": (
            "ec2:DescribeSecurityGroups",
            "ec2:DescribeSubnets",
            "ec2:DescribeVpcs",
            "ec2:GetSecurityGroupsForVpc",
            "fsx:CreateFileSystem",
            "fsx:TagResource",
            "iam:CreateServiceLinkedRole",
            "kms:CreateGrant",
            "kms:Decrypt",
            "kms:DescribeKey",
            "kms:GenerateDataKeyWithoutPlaintext",
        ),
        "read": ("fsx:DescribeFileSystems", "fsx:ListTagsForResource"),
        "update": ("fsx:TagResource", "fsx:UntagResource", "fsx:UpdateFileSystem"),
        "delete": ("fsx:DeleteFileSystem",),
    },
}
# The schemas of S3 and CloudWatch Logs have names of operations in the place of actions:
# https://docs.aws.amazon.com/AmazonS3/latest/userguide/using-with-s3-policy-actions.html
_ACTIONS_OF_OPERATIONS = {
    "s3:DeleteBucketAnalyticsConfiguration": "s3:PutAnalyticsConfiguration",
    "s3:DeleteBucketCors": "s3:PutBucketCORS",
    "s3:DeleteBucketEncryption": "s3:PutEncryptionConfiguration",
    "s3:DeleteBucketLifecycle": "s3:PutLifecycleConfiguration",
    "s3:DeleteBucketMetricsConfiguration": "s3:PutMetricsConfiguration",
    "s3:DeleteBucketReplication": "s3:PutReplicationConfiguration",
    "s3:PutBucketReplication": "s3:PutReplicationConfiguration",
    "s3:PutObjectLockConfiguration": "s3:PutBucketObjectLockConfiguration",
    "s3:REST.PUT.OBJECT": "s3:PutObject",
}
SERVICE_LINKED_ROLES = {
    # https://docs.aws.amazon.com/chatbot/latest/adminguide/using-service-linked-roles.html
    "AWS::Chatbot::SlackChannelConfiguration": "management.chatbot.amazonaws.com",
    # https://docs.aws.amazon.com/amazondynamodb/latest/developerguide/V2globaltables_reqs_bestpractices.html
    "AWS::DynamoDB::Table": "replication.dynamodb.amazonaws.com",
    # https://docs.aws.amazon.com/eks/latest/userguide/using-service-linked-roles-eks.html
    "AWS::EKS::Cluster": "eks.amazonaws.com",
    "AWS::EKS::Nodegroup": "eks-nodegroup.amazonaws.com",
    # https://docs.aws.amazon.com/AmazonCloudWatch/latest/logs/AWS-logs-and-resource-policy.html
    "AWS::EC2::FlowLog": "delivery.logs.amazonaws.com",
    # https://docs.aws.amazon.com/fsx/latest/LustreGuide/using-service-linked-roles.html
    "AWS::FSx::FileSystem": "fsx.amazonaws.com",
    "AWS::FSx::DataRepositoryAssociation": "s3.data-source.lustre.fsx.amazonaws.com",
    # https://docs.aws.amazon.com/grafana/latest/userguide/using-service-linked-roles.html
    "AWS::Grafana::Workspace": "grafana.amazonaws.com",
    # https://docs.aws.amazon.com/AmazonRDS/latest/UserGuide/UsingWithRDS.IAM.ServiceLinkedRoles.html
    "AWS::RDS::DBInstance": "rds.amazonaws.com",
    "AWS::RDS::DBSubnetGroup": "rds.amazonaws.com",
    # https://docs.aws.amazon.com/sagemaker/latest/dg/sagemaker-hyperpod-prerequisites-iam.html
    "AWS::SageMaker::Cluster": "hyperpod.sagemaker.amazonaws.com",
}
"""For which service the handlers of a type make a service-linked role; the schemas do not say."""
NAMED_BY_LOGICAL_ID = frozenset(
    {
        # https://github.com/aws/aws-cdk/issues/24674
        "AWS::Lambda::LayerVersion",
        # https://github.com/alexcasalboni/aws-lambda-power-tuning/issues/220
        "AWS::StepFunctions::StateMachine",
    }
)
"""Types whose generated names begin with the logical ID; those of others begin with the stack's.

https://docs.aws.amazon.com/AWSCloudFormation/latest/UserGuide/aws-properties-name.html
"""
NAMED_IN_LOWER_CASE = frozenset(
    {"AWS::RDS::DBInstance", "AWS::RDS::DBSubnetGroup", "AWS::S3::Bucket"}
)
"""Types whose generated names are in lower case."""


class UnknownTypeError(Exception):
    """What is needed of a resource type is not known here."""


@dataclass(frozen=True, slots=True, kw_only=True)
class ResourceSchema:
    """The schema of one resource type.

    Attributes:
        name: The type, `AWS::Service::Resource`.
        properties: Names of all top-level properties.
        create_only: Properties whose change replaces the resource.
        conditionally_create_only: Properties whose change may replace it; the schema does not say
            when, so it is taken to.
        identifiers: The primary identifier and the additional ones; no two resources share one.
        read_only: Properties that a template must not set.
        required: Properties that a template must set.
        deletes_first: Whether a replacement deletes the old resource before it creates the new one.
        permissions: IAM actions of each handler: create, read, update, delete, list.
        tag_property: The property that holds tags; None for a type without.
        system_tags: Whether CloudFormation adds tags of its own, such as the stack's name.
    """

    name: str
    properties: frozenset[str]
    create_only: tuple[PropertyPath, ...]
    conditionally_create_only: tuple[PropertyPath, ...]
    identifiers: tuple[tuple[PropertyPath, ...], ...]
    read_only: tuple[PropertyPath, ...]
    required: tuple[str, ...]
    deletes_first: bool
    permissions: Mapping[str, tuple[str, ...]]
    tag_property: str | None
    system_tags: bool

    def replacing(self, old: Properties, new: Properties) -> list[PropertyPath]:
        """Return the changed properties that replace the resource; none: it is updated."""
        paths = (*self.create_only, *self.conditionally_create_only)
        return [path for path in paths if values_at(old, path) != values_at(new, path)]

    def taken_identifier(self, old: Properties, new: Properties) -> tuple[Any, ...] | None:
        """Return the identifier that a replacement shares with the old resource, or None.

        Only an identifier that the template itself fixes can be shared.
        """
        if self.deletes_first:
            return None
        for identifier in self.identifiers:
            values = [values_at(new, path) for path in identifier]
            if all(values) and values == [values_at(old, path) for path in identifier]:
                return tuple(value for found in values for value in found)
        return None

    @property
    def names(self) -> tuple[str, ...]:
        """Return the properties that name a resource; left out, CloudFormation makes a name."""
        alone = (identifier[0] for identifier in self.identifiers if len(identifier) == 1)
        settable = (path[0] for path in alone if len(path) == 1 and path not in self.read_only)
        return tuple(name for name in settable if name not in self.required)

    def given_name(self, properties: Properties) -> str | None:
        """Return the name that a template gives a resource, or None."""
        return next((properties[name] for name in self.names if properties.get(name)), None)

    def replacement_problem(
        self, old: Properties, new: Properties, *, physical_id: str | None = None
    ) -> str | None:
        """Return why CloudFormation refuses to replace a resource, in its words, or None.

        The message has the physical ID, or else the identifier.
        """
        if not self.replacing(old, new):
            return None
        taken = self.taken_identifier(old, new)
        if taken is None:
            return None
        identifier = "|".join(map(str, taken))
        # https://repost.aws/knowledge-center/cloudformation-custom-name
        if taken == (self.given_name(new),):
            return (
                "CloudFormation cannot update a stack when a custom-named resource requires "
                f"replacing. Rename {physical_id or identifier} and update the stack again."
            )
        # The handler's error code AlreadyExists:
        # https://docs.aws.amazon.com/cloudformation-cli/latest/userguide/resource-type-test-contract-errors.html
        return f"Resource of type '{self.name}' with identifier '{identifier}' already exists."

    def problems(self, properties: Properties) -> list[str]:
        """Return what CloudFormation's validation of a resource's properties finds."""
        missing = [name for name in self.required if name not in properties]
        unknown = sorted(properties.keys() - self.properties)
        # `readOnlyProperties`: "cannot be specified by the customer", which the template schema
        # that CloudFormation publishes states by leaving them out.
        read_only = [path[0] for path in self.read_only if len(path) == 1 and path[0] in properties]
        return [
            *(f"#: required key [{name}] not found" for name in missing),
            *(f"#: extraneous key [{name}] is not permitted" for name in (*unknown, *read_only)),
        ]


def values_at(properties: object, path: PropertyPath) -> list[Any]:
    """Return the values at a path; none when it is not set, several when it passes a list."""
    return [value for value in _values(properties, path) if value is not None]


def _values(node: object, path: PropertyPath) -> Iterator[Any]:
    if not path:
        yield node
    elif isinstance(node, list):
        for item in node:
            yield from _values(item, path[1:] if path[0] == "*" else path)
    elif isinstance(node, Mapping) and path[0] in node:
        yield from _values(node[path[0]], path[1:])


def schema_of(resource_type: str) -> ResourceSchema | None:
    """Return the schema of a type; None for a custom resource, or one that no template uses."""
    return schemas().get(resource_type)


def service_of_linked_role(resource_type: str) -> str:
    """Return for which service the handlers of a type make a service-linked role.

    Raises:
        UnknownTypeError: It is not known.
    """
    if resource_type not in SERVICE_LINKED_ROLES:
        raise UnknownTypeError(
            f"{resource_type}: its handlers call iam:CreateServiceLinkedRole, for a service that "
            "is not known; add it to SERVICE_LINKED_ROLES of "
            "aws_reference/aws_reference/resource_schemas.py"
        )
    return SERVICE_LINKED_ROLES[resource_type]


@functools.cache
def schemas() -> Mapping[str, ResourceSchema]:
    """Return every schema of the data file by type."""
    return read_schemas(DATA_FILE.read_text(encoding="utf-8"))


def read_schemas(text: str) -> Mapping[str, ResourceSchema]:
    """Return every schema of a data file's text by type."""
    return {name: _schema(name, data) for name, data in json.loads(text)["types"].items()}


def _schema(name: str, data: Mapping[str, Any]) -> ResourceSchema:
    create_only = _paths(data.get("createOnlyProperties"))
    identifiers = [data["primaryIdentifier"], *data.get("additionalIdentifiers", [])]
    return ResourceSchema(
        name=name,
        properties=frozenset(data["properties"]),
        create_only=(*create_only, *_CREATE_ONLY_NOT_IN_THE_SCHEMA.get(name, ())),
        conditionally_create_only=_paths(data.get("conditionalCreateOnlyProperties")),
        identifiers=tuple(_paths(pointers) for pointers in identifiers),
        read_only=_paths(data.get("readOnlyProperties")),
        required=tuple(data.get("required", ())),
        deletes_first=data.get("replacementStrategy") == "delete_then_create",
        permissions=_permissions(
            data["permissions"], further=_PERMISSIONS_NOT_IN_THE_SCHEMA.get(name, {})
        ),
        tag_property=_tag_property(name, data),
        system_tags=data.get("systemTags", False),
    )


def _tag_property(name: str, data: Mapping[str, Any]) -> str | None:
    pointer: str | None = data.get("tagProperty")
    if pointer is None:
        return _TAGS_NOT_IN_THE_SCHEMA.get(name)
    return pointer.removeprefix("/properties/")


def _permissions(
    handlers: Mapping[str, list[str]], *, further: Mapping[str, tuple[str, ...]]
) -> Mapping[str, tuple[str, ...]]:
    return {
        handler: tuple(
            sorted(
                {
                    *(_ACTIONS_OF_OPERATIONS.get(each, each) for each in handlers.get(handler, ())),
                    *further.get(handler, ()),
                }
            )
        )
        for handler in handlers.keys() | further.keys()
    }


def _paths(pointers: list[str] | None) -> tuple[PropertyPath, ...]:
    return tuple(tuple(p.removeprefix("/properties/").split("/")) for p in pointers or ())


def tags_of(properties: Properties) -> dict[str, Any]:
    """Return the tags by key that properties give a resource; not those of what it launches."""
    holders = (properties, *properties.get("TagSpecifications", ()))
    tags = (tag for each in holders for tag in each.get("Tags", ()))
    return {tag["Key"]: tag["Value"] for tag in tags if isinstance(tag, Mapping)}
