"""For each law a template that breaks it."""

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any


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


_LOGS_ARN = "arn:aws:logs:us-west-2:111122223333:log-group"

PLANTED: Mapping[str, Planted] = {
    "log_group_keys": Planted(
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
                                        "kms:EncryptionContext:aws:logs:arn": f"{_LOGS_ARN}:/a/*"
                                    }
                                },
                            }
                        ]
                    }
                },
            },
            "Logs": {
                "Type": "AWS::Logs::LogGroup",
                "Properties": {"LogGroupName": "/b", "KmsKeyId": {"Fn::GetAtt": ["Key", "Arn"]}},
            },
        },
        logical_id="Logs",
    ),
    # A slash where the reference has a colon.
    "statement_resources": Planted(
        resources={
            "Policy": policy(
                "autoscaling:SetDesiredCapacity",
                on="arn:aws:autoscaling:us-west-2:111122223333:autoScalingGroup/*",
            )
        },
        logical_id="Policy",
    ),
}
