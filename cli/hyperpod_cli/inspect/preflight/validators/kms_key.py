"""KMS keys that a configuration names: whether services can encrypt with them."""

import json
from collections.abc import Iterator, Mapping, Sequence
from fnmatch import fnmatchcase
from typing import Any

from hyperpod_cdk import Config
from hyperpod_cdk.encryption.key_policy import administration, encryption_of_logs, log_group_arns
from hyperpod_cdk.schema.errors import KeyPath, error
from hyperpod_cdk.schema.named_resources import named_resources
from hyperpod_cli.aws.session import AwsClient, answer_of
from hyperpod_cli.inspect.preflight.validator import Phase, Problems, Target, as_list, validator

_PATH: KeyPath = ("encryption", "kms_key_arn")
# What the patterns of the statement for CloudWatch Logs come to.
_BY_LOGS = (
    "kms:Decrypt",
    "kms:DescribeKey",
    "kms:Encrypt",
    "kms:GenerateDataKey",
    "kms:ReEncryptFrom",
    "kms:ReEncryptTo",
)
# What the services ask for on behalf of who deploys, the provisioner and the nodes: DynamoDB, for
# the provisioner's journal, all that CloudWatch Logs does.
_BY_IAM = ("kms:CreateGrant", *_BY_LOGS)
_LOGS_CONTEXT = "kms:encryptioncontext:aws:logs:arn"

Statement = Mapping[str, Any]


@validator(
    phase=Phase.EXISTING_RESOURCES, names=("KMS key",), iam=["kms:DescribeKey", "kms:GetKeyPolicy"]
)
def kms_key(config: Config, target: Target) -> Problems:
    """A key does not exist, is not enabled, or its policy lacks a statement.

    The policy of a key of another account cannot be read, and is not looked at.

    https://docs.aws.amazon.com/AmazonCloudWatch/latest/logs/encrypt-log-data-kms.html
    https://docs.aws.amazon.com/sagemaker/latest/dg/smcluster-cmk.html

    Keys: encryption.kms_key_arn

    [KMS](https://docs.aws.amazon.com/kms/latest/developerguide/key-state.html)
    """
    client = target.client("kms")
    usable = set()
    for named in named_resources(config, "KMS key"):
        message = _unusable(client, named.value, region=target.region)
        if message is None:
            usable.add(named.value)
        else:
            command = _command("describe-key", named.value, target)
            yield error(named.path, named.value, message), command
    key = config.encryption.kms_key_arn
    if key is not None and key in usable and key.split(":")[4] == target.account:
        policy = policy_of(key, target)
        command = _command("get-key-policy --policy-name default", key, target)
        for missing in _missing(config, policy, target=target):
            message = (
                f"must let {missing['Principal']} use it: add to the policy of the key, by "
                f"`aws kms put-key-policy`, the statement {json.dumps(missing)}"
            )
            yield error(_PATH, key, message), command


def _command(operation: str, key: str, target: Target) -> str:
    return f"aws kms {operation} --key-id {key} --region {target.region}"


def _unusable(client: AwsClient, key: str, *, region: str) -> str | None:
    """Return why no service can encrypt with a key, or None."""
    if key.startswith("arn:") and key.split(":")[3] != region:
        return f"must be a key of {region}, where it is used"
    answer = answer_of(client.describe_key, "NotFoundException", KeyId=key)
    if answer is None:
        return f"does not exist in {region}; name a key that is there"
    metadata = answer["KeyMetadata"]
    if metadata["KeyState"] != "Enabled":
        remedy = {
            "Disabled": "aws kms enable-key",
            "PendingDeletion": "aws kms cancel-key-deletion, then aws kms enable-key",
        }.get(metadata["KeyState"], "wait until it is Enabled, or name another one")
        return f"must be enabled, and is {metadata['KeyState']}: {remedy}"
    kind = (metadata.get("KeySpec", "SYMMETRIC_DEFAULT"), metadata["KeyUsage"])
    if kind != ("SYMMETRIC_DEFAULT", "ENCRYPT_DECRYPT"):
        return f"must be a symmetric key for encryption, and is {' for '.join(kind)}"
    return None


def policy_of(key: str, target: Target) -> Mapping[str, Any]:
    """Return the policy of a key."""
    answer = target.client("kms").get_key_policy(KeyId=key, PolicyName="default")
    return dict(json.loads(answer["Policy"]))


def leaves_it_to_iam(policy: Mapping[str, Any], action: str, target: Target) -> bool:
    """Return whether a key's policy lets the account's IAM policies decide about an action.

    https://docs.aws.amazon.com/kms/latest/developerguide/key-policy-default.html
    """
    root = target.iam_arn("root")
    return _covers(_allowing(policy), action=action, principals=("AWS", (root, target.account)))


def _allowing(policy: Mapping[str, Any]) -> list[Statement]:
    return [item for item in as_list(policy["Statement"]) if item["Effect"] == "Allow"]


def _missing(config: Config, policy: Mapping[str, Any], *, target: Target) -> Iterator[Statement]:
    """Yield the statements that a policy lacks, as far as it can be read."""
    if not all(leaves_it_to_iam(policy, action, target) for action in _BY_IAM):
        yield administration(partition=target.partition, account=target.account)
    if not config.encryption.logs:
        return
    # The CDK takes a second to import, and few configurations name a key.
    from hyperpod_stacks.deployment import log_groups_of  # noqa: PLC0415

    arns = log_group_arns(
        log_groups_of(config),
        partition=target.partition,
        region=target.region,
        account=target.account,
    )
    suffix = "amazonaws.com.cn" if target.partition == "aws-cn" else "amazonaws.com"
    wanted = encryption_of_logs(arns, region=target.region, dns_suffix=suffix)
    service = wanted["Principal"]["Service"]
    if not all(
        _covers(_allowing(policy), action=action, principals=("Service", (service,)), log_group=arn)
        for action in _BY_LOGS
        for arn in arns
    ):
        yield wanted


def _covers(
    statements: Sequence[Statement],
    *,
    action: str,
    principals: tuple[str, tuple[str, ...]],
    log_group: str | None = None,
) -> bool:
    return any(
        _is_for(statement.get("Principal"), principals)
        and any(fnmatchcase(action.lower(), text.lower()) for text in _texts(statement, "Action"))
        and _may_hold(statement.get("Condition", {}), log_group=log_group)
        for statement in statements
    )


def _is_for(principal: object, wanted: tuple[str, tuple[str, ...]]) -> bool:
    kind, names = wanted
    if not isinstance(principal, Mapping):
        return principal == "*"
    return any(text in (*names, "*") for text in _texts(principal, kind))


def _may_hold(conditions: Mapping[str, Mapping[str, Any]], *, log_group: str | None) -> bool:
    """Return whether conditions hold; one that is not about a log group is taken to."""
    if log_group is None:
        return True
    return all(
        any(fnmatchcase(log_group, pattern) for pattern in _texts(keys, key))
        for operator, keys in conditions.items()
        for key in keys
        if key.lower() == _LOGS_CONTEXT and "Not" not in operator
    )


def _texts(mapping: Mapping[str, Any], key: str) -> list[str]:
    return as_list(mapping.get(key, []))
