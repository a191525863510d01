"""For each law the templates that break it: one for each thing that it looks at."""

import json
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

from hyperpod_cdk.helm.release import chart_digest
from tests.support.configs import REPOSITORY


@dataclass(frozen=True, kw_only=True, slots=True)
class Planted:
    """What breaks a law.

    Attributes:
        resources: Of a template.
        logical_id: Which of them, or what else the law must name.
        config: Changes of the default configuration.
        region: Where it is deployed.
    """

    resources: Mapping[str, Any] = field(default_factory=dict)
    logical_id: str
    config: Mapping[str, Any] = field(default_factory=dict)
    region: str = "us-west-2"


def policy(*actions: str, on: str, **more: object) -> dict[str, Any]:
    """Return an inline policy of one statement."""
    statement = {"Effect": "Allow", "Action": [*actions], "Resource": on, **more}
    return {"Type": "AWS::IAM::Policy", "Properties": {"PolicyDocument": {"Statement": statement}}}


_OF_OTHER_LOGS = "arn:aws:logs:us-west-2:111122223333:log-group:/a/*"


def limited_endpoint(*, reads: str) -> Planted:
    """Return a policy behind an endpoint that lets through what is in the account alone."""
    return Planted(
        resources={
            "Endpoint": {
                "Type": "AWS::EC2::VPCEndpoint",
                "Properties": {
                    "ServiceName": "com.amazonaws.us-west-2.s3",
                    "PolicyDocument": {
                        "Statement": [
                            {
                                "Effect": "Allow",
                                "Action": "s3:*",
                                "Resource": "*",
                                "Condition": {
                                    "StringEquals": {"aws:ResourceAccount": "111122223333"}
                                },
                            }
                        ]
                    },
                },
            },
            "Policy": policy("s3:GetObject", on=reads),
        },
        logical_id="Policy",
    )


PLANTED: Mapping[str, Sequence[Planted]] = {
    "log_group_keys": [
        Planted(
            resources={
                "Key": {
                    "Type": "AWS::KMS::Key",
                    "Properties": {
                        "KeyPolicy": {
                            "Statement": [
                                {
                                    "Effect": "Allow",
                                    "Action": "kms:Encrypt",
                                    "Resource": "*",
                                    "Condition": {
                                        "ArnLike": {
                                            "kms:EncryptionContext:aws:logs:arn": _OF_OTHER_LOGS
                                        }
                                    },
                                }
                            ]
                        }
                    },
                },
                "Logs": {
                    "Type": "AWS::Logs::LogGroup",
                    "Properties": {
                        "LogGroupName": "/b",
                        "KmsKeyId": {"Fn::GetAtt": ["Key", "Arn"]},
                    },
                },
            },
            logical_id="Logs",
        )
    ],
    # A slash where the reference has a colon.
    "statement_resources": [
        Planted(
            resources={
                "Policy": policy(
                    "autoscaling:SetDesiredCapacity",
                    on="arn:aws:autoscaling:us-west-2:111122223333:autoScalingGroup/*",
                )
            },
            logical_id="Policy",
        )
    ],
    "regional_types": [
        Planted(
            resources={"Memory": {"Type": "AWS::Lightsail::Instance", "Properties": {}}},
            logical_id="Memory",
        )
    ],
    "support_dates": [
        Planted(
            resources={"Eks": {"Type": "AWS::EKS::Cluster", "Properties": {"Version": "1.30"}}},
            logical_id="Eks",
        )
    ],
    "closed_namespaces": [
        Planted(
            resources={
                "Association": {
                    "Type": "AWS::EKS::PodIdentityAssociation",
                    "Properties": {"Namespace": "secrets-operator"},
                }
            },
            logical_id="Association",
        )
    ],
    "listed_images": [
        Planted(
            resources={
                "Files": {
                    "Type": "Custom::HelmRelease",
                    "Properties": {
                        "ChartDigest": chart_digest(REPOSITORY / "charts" / "fsx-storage"),
                        "Values": json.dumps(
                            {
                                "name": "fsx",
                                "claims": [{"namespace": "team-a", "directory": "/team-a"}],
                            }
                        ),
                    },
                }
            },
            logical_id="Files",
        )
    ],
    "image_registries": [
        Planted(
            resources={
                "Release": {
                    "Type": "Custom::HelmRelease",
                    "Properties": {"Release": "mine", "Values": '{"image": "quay.io/a/b:1"}'},
                }
            },
            logical_id="Release",
            config={"network": {"allowed_domains": ["*.docker.io", "nvcr.io", "public.ecr.aws"]}},
        )
    ],
    "endpoint_policies": [
        limited_endpoint(reads=each)
        for each in (
            "arn:aws:s3:::jumpstart-cache-prod-us-west-2/*",
            "arn:aws:s3:::cdk-of-another-account/*",
            "arn:aws:s3:::*/*",
            "arn:*:s3:::models-of-another-account/*",
            "arn:aws:s3:us-west-2:444455556666:accesspoint/models/*",
            "*",
        )
    ],
    "handler_permissions": [
        Planted(
            resources={
                "Governance": {"Type": "Custom::TaskGovernance", "Properties": {}},
                "Policy": policy("sagemaker:DeleteComputeQuota", on="*"),
            },
            logical_id="Governance",
        ),
        Planted(
            resources={
                "Eks": {"Type": "AWS::EKS::Cluster", "Properties": {}},
                "Policy": policy("eks:CreatePodIdentityAssociation", "iam:GetRole", on="*"),
            },
            logical_id="Policy",
        ),
    ],
    "name_limits": [
        Planted(
            resources={
                "Role": {"Type": "AWS::IAM::Role", "Properties": {"RoleName": "r" * 65}},
                "Function": {
                    "Type": "AWS::Lambda::Function",
                    "Properties": {"FunctionName": "f" * 200},
                },
            },
            logical_id="Role",
        )
    ],
    "failed_creation": [
        Planted(
            resources={
                "Table": {
                    "Type": "AWS::DynamoDB::Table",
                    "Properties": {"DeletionProtectionEnabled": True},
                    "DeletionPolicy": "RetainExceptOnCreate",
                }
            },
            logical_id="Table",
        ),
        Planted(
            resources={
                "Key": {"Type": "AWS::KMS::Key", "DeletionPolicy": "RetainExceptOnCreate"},
                "Logs": {
                    "Type": "AWS::Logs::LogGroup",
                    "Properties": {"KmsKeyId": {"Fn::GetAtt": ["Key", "Arn"]}},
                    "DeletionPolicy": "Retain",
                },
            },
            logical_id="Logs",
        ),
    ],
}
