"""A log group with a key is in what the policy of that key lets CloudWatch Logs encrypt.

https://docs.aws.amazon.com/AmazonCloudWatch/latest/logs/encrypt-log-data-kms.html
"""

from collections.abc import Iterator
from fnmatch import fnmatchcase

from tests.support.laws import Deployment, Resource

_CONTEXT = "kms:EncryptionContext:aws:logs:arn"


def violations(deployment: Deployment) -> list[str]:
    """Return a line for each log group that its key, which the deployment makes, refuses."""
    found = []
    for group in deployment.of_type("AWS::Logs::LogGroup"):
        key = deployment.referred(group.stack, group.properties.get("KmsKeyId"))
        if key is not None:
            allowed = [*_of_policy(deployment, key)]
            if not any(fnmatchcase(deployment.arn(group), each) for each in allowed):
                arn = deployment.arn(group)
                found.append(group.violation(f"its key refuses {arn}", allowed=str(allowed)))
    return found


def _of_policy(deployment: Deployment, key: Resource) -> Iterator[str]:
    for statement in deployment.statements:
        if statement.resource is key and statement.effect == "Allow":
            for keys in statement.conditions.values():
                yield from keys.get(_CONTEXT, ())
