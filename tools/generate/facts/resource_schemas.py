"""Write aws_reference/resource_schemas.json from CloudFormation's resource schemas.

The local AWS reads the file, not cfn-lint, which is not in its environment.
"""

import importlib.metadata
import json
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import cfnlint

from aws_reference.resource_schemas import DATA_FILE

REGION = "us-east-1"

# Every type that a configuration can bring into a template; a test compares.
TYPES = (
    "AWS::EC2::EIP",
    "AWS::EC2::FlowLog",
    "AWS::EC2::InternetGateway",
    "AWS::EC2::NatGateway",
    "AWS::EC2::Route",
    "AWS::EC2::RouteTable",
    "AWS::EC2::SecurityGroup",
    "AWS::EC2::SecurityGroupEgress",
    "AWS::EC2::SecurityGroupIngress",
    "AWS::EC2::Subnet",
    "AWS::EC2::SubnetRouteTableAssociation",
    "AWS::EC2::VPC",
    "AWS::EC2::VPCCidrBlock",
    "AWS::EC2::VPCEndpoint",
    "AWS::EC2::VPCGatewayAttachment",
    "AWS::EKS::AccessEntry",
    "AWS::EKS::Addon",
    "AWS::EKS::Cluster",
    "AWS::EKS::PodIdentityAssociation",
    "AWS::FSx::DataRepositoryAssociation",
    "AWS::FSx::FileSystem",
    "AWS::IAM::ManagedPolicy",
    "AWS::IAM::Policy",
    "AWS::IAM::Role",
    "AWS::KMS::Alias",
    "AWS::KMS::Key",
    "AWS::Lambda::Function",
    "AWS::Lambda::LayerVersion",
    "AWS::Logs::LogGroup",
    "AWS::S3::Bucket",
    "AWS::S3::BucketPolicy",
    "AWS::SageMaker::Cluster",
    "AWS::StepFunctions::StateMachine",
)
# What the local AWS and the deployer's policy read; a key that a schema lacks is left out.
KEYS = (
    "additionalIdentifiers",
    "conditionalCreateOnlyProperties",
    "createOnlyProperties",
    "primaryIdentifier",
    "readOnlyProperties",
    "replacementStrategy",
    "required",
)


def render() -> Mapping[Path, str]:
    """Return the file as the installed cfn-lint gives it."""
    root = Path(cfnlint.__file__).parent / "data" / "schemas"
    files = json.loads((root / "providers" / f"{REGION}.json").read_text("utf-8"))
    types = {name: _compact(root / "resources" / f"{files[name]}.json") for name in TYPES}
    content = {
        "cfn_lint": importlib.metadata.version("cfn-lint"),
        "schema_date": json.loads((root / "version.json").read_text("utf-8"))["schema_date"],
        "types": types,
    }
    return {DATA_FILE: json.dumps(content, indent=1, sort_keys=True) + "\n"}


def _compact(file: Path) -> dict[str, Any]:
    schema: dict[str, Any] = json.loads(file.read_text("utf-8"))
    tag_property = schema.get("tagging", {}).get("tagProperty")
    return {
        **{key: schema[key] for key in KEYS if key in schema},
        **({"tagProperty": tag_property} if tag_property else {}),
        "properties": sorted(schema["properties"]),
        "permissions": {
            handler: sorted(set(definition.get("permissions", ())))
            for handler, definition in schema.get("handlers", {}).items()
        },
    }
