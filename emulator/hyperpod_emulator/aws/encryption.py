"""Encryption with KMS: keys with a chosen id, and what buckets, log groups and volumes ask of one.

https://docs.aws.amazon.com/AmazonS3/latest/userguide/UsingKMSEncryption.html
"""

import json
from collections.abc import Callable, Iterator, Mapping
from http import HTTPStatus
from typing import Any
from xml.sax.saxutils import escape

from hyperpod_emulator.aws.cloudformation.resource_type import Created, Properties
from hyperpod_emulator.aws.iam import authorization
from hyperpod_emulator.aws.iam.authorization import Permission
from hyperpod_emulator.aws.json_service import ServiceError
from hyperpod_emulator.aws.ministack import (
    Response,
    cloudwatch_logs,
    get_account_id,
    get_region,
    iam_evaluator,
    kms,
    provisioners,
    router,
    s3,
    wrap,
)
from hyperpod_emulator.aws.refused import Refused
from hyperpod_emulator.aws.settings import KMS_KEY_ID


def key_problem(key: str) -> str | None:
    """Return why no service can encrypt with a key (id or ARN) of the account, or None."""
    record = kms._resolve_key(key)
    if record is None:
        return "does not exist"
    if record["KeyState"] != "Enabled":
        return f"is {record['KeyState']}"
    return None if record["KeySpec"] == "SYMMETRIC_DEFAULT" else "is not symmetric"


def install() -> None:
    """Have keys asked for, and let one be created with the id that a configuration names."""
    wrap(kms, "_create_key", _create_key)
    wrap(s3, "_resolve_sse_write_headers", _resolve_headers)
    wrap(s3, "_put_object", _put_object)
    wrap(s3, "_get_object", _get_object)
    for operation in ("create", "update"):
        wrap(provisioners._RESOURCE_HANDLERS["AWS::S3::Bucket"], operation, _encrypt_by_default)
    log_groups = provisioners._RESOURCE_HANDLERS["AWS::Logs::LogGroup"]
    wrap(log_groups, "create", _create_log_group)
    wrap(log_groups, "update", _update_log_group)


def _create_key(create: Callable[..., Response], request: dict[str, Any]) -> Response:
    response = create(request)
    tags = {tag["TagKey"]: tag["TagValue"] for tag in request.get("Tags") or []}
    if KMS_KEY_ID not in tags or response[0] != HTTPStatus.OK:
        return response
    record = kms._keys.pop(json.loads(response[2])["KeyMetadata"]["KeyId"])
    record |= {"KeyId": tags[KMS_KEY_ID], "Arn": kms._arn(tags[KMS_KEY_ID])}
    kms._keys[record["KeyId"]] = record
    return kms._describe_key({"KeyId": record["KeyId"]})


# What EBS does with a volume's key, by grants that HyperPod passes on.
# https://docs.aws.amazon.com/sagemaker/latest/dg/smcluster-cmk.html
_OF_VOLUMES = ["CreateGrant", "Decrypt", "DescribeKey", "GenerateDataKeyWithoutPlaintext"]
# https://docs.aws.amazon.com/AmazonCloudWatch/latest/logs/encrypt-log-data-kms.html
_OF_LOGS = ("Decrypt", "DescribeKey", "Encrypt", "GenerateDataKey", "ReEncryptFrom", "ReEncryptTo")


def refuse_logs(key: str, *, log_group_arn: str) -> bool:
    """Return whether a key's policy keeps CloudWatch Logs from encrypting a group."""
    record = kms._resolve_key(key)
    service = f"logs.{get_region()}.amazonaws.com"
    context = {"kms:EncryptionContext:aws:logs:arn": log_group_arn}
    for action in _OF_LOGS:
        use = Permission(action=f"kms:{action}", resource=record["Arn"], context=context)
        asked = authorization.asked_by(service, "Service", use)
        policy = record.get("Policy") or ""
        decision = iam_evaluator.evaluate_resource_policy(policy, asked, service=service)
        if decision.decision != "Allow":
            return True
    return False


def for_volumes(key: str) -> Iterator[Permission]:
    """Yield what HyperPod asks of its caller on the key of nodes' volumes.

    https://docs.aws.amazon.com/sagemaker/latest/dg/smcluster-cmk.html
    """
    record = kms._resolve_key(key)
    if record is None:  # which is refused as what it is
        return
    through = {"kms:ViaService": f"sagemaker.{get_region()}.amazonaws.com"}
    grant: dict[str, str | list[str]] = {
        **through,
        "kms:GrantIsForAWSResource": "true",
        "kms:GrantOperations": _OF_VOLUMES,
    }
    yield Permission(action="kms:CreateGrant", resource=record["Arn"], context=grant)
    yield Permission(action="kms:DescribeKey", resource=record["Arn"], context=through)


_ALGORITHM = "x-amz-server-side-encryption"
_KEY = f"{_ALGORITHM}-aws-kms-key-id"
# Who may use the bucket may use this one, which S3 takes where no key is named.
_AWS_MANAGED = "alias/aws/s3"


def _put_object(
    put: Callable[..., Response], bucket: str, key: str, body: bytes, headers: Mapping[str, str]
) -> Response:
    default = s3._bucket_default_sse_headers(bucket)
    kms_key = headers.get(_KEY) or default.get(_KEY)
    # A data key for each object, or for the bucket for a time.
    refused = _refusal(kms_key, bucket, key, headers=headers, action="kms:GenerateDataKey")
    return refused or put(bucket, key, body, headers)


def _get_object(
    get: Callable[..., Response], bucket: str, key: str, headers: Mapping[str, str], *rest: Any
) -> Response:
    kms_key = key_of(bucket, key)
    refused = _refusal(kms_key, bucket, key, headers=headers, action="kms:Decrypt")
    return refused or get(bucket, key, headers, *rest)


def _resolve_headers(
    resolve: Callable[..., Response], headers: Mapping[str, str], bucket: str
) -> Response:
    if headers.get(_ALGORITHM) == "aws:kms" and not headers.get(_KEY):
        headers = {**headers, _KEY: _AWS_MANAGED}
    return resolve(headers, bucket)


def _encrypt_by_default(put: Callable[..., Created], identifier: str, *rest: Any) -> Created:
    """Set how a bucket of CloudFormation's encrypts what is put into it.

    S3 does not look at the key then:
    https://docs.aws.amazon.com/AmazonS3/latest/API/API_PutBucketEncryption.html
    """
    made = put(identifier, *rest)
    properties = next(each for each in reversed(rest) if isinstance(each, Mapping))
    rules = properties.get("BucketEncryption", {}).get("ServerSideEncryptionConfiguration", [])
    for rule in rules:
        s3._put_bucket_encryption(made[0], _rule_xml(rule))
    if not rules:
        s3._delete_bucket_encryption(made[0])
    return made


def _rule_xml(rule: Mapping[str, Any]) -> bytes:
    default = rule["ServerSideEncryptionByDefault"]
    members = "".join(f"<{name}>{escape(str(value))}</{name}>" for name, value in default.items())
    has_bucket_key = str(rule.get("BucketKeyEnabled", False)).lower()
    return (
        f'<ServerSideEncryptionConfiguration xmlns="{s3.S3_NS}"><Rule>'
        f"<ApplyServerSideEncryptionByDefault>{members}</ApplyServerSideEncryptionByDefault>"
        f"<BucketKeyEnabled>{has_bucket_key}</BucketKeyEnabled></Rule>"
        "</ServerSideEncryptionConfiguration>"
    ).encode()


def key_of(bucket: str, key: str) -> str | None:
    """Return the KMS key of an object as it is now; None without one of the account's own."""
    objects = (s3._buckets.get(bucket) or {}).get("objects", {})
    found: str | None = (objects.get(key) or {}).get("preserved_headers", {}).get(_KEY)
    return None if found == _AWS_MANAGED else found


def use_of(kms_key: str, *, bucket: str, key: str, action: str) -> Permission:
    """Return what S3 asks for when it uses a key (id or ARN) of an object for a caller."""
    arn = f"arn:aws:s3:::{bucket}"
    has_bucket_key = "<BucketKeyEnabled>true" in s3._bucket_encryption.get(bucket, "")
    return Permission(
        action=action,
        resource=kms._resolve_key(kms_key)["Arn"],
        context={
            "kms:ViaService": f"s3.{get_region()}.amazonaws.com",
            "kms:CallerAccount": get_account_id(),
            "kms:EncryptionContext:aws:s3:arn": arn if has_bucket_key else f"{arn}/{key}",
        },
    )


def _refusal(
    kms_key: str | None, bucket: str, key: str, *, headers: Mapping[str, str], action: str
) -> Response | None:
    if kms_key is None or not router.extract_access_key_id(headers, {}):
        return None
    problem = key_problem(kms_key)
    if problem is not None:
        # https://docs.aws.amazon.com/AmazonS3/latest/API/ErrorResponses.html
        code = "KMS.DisabledException" if "Disabled" in problem else "KMS.KMSInvalidStateException"
        return _error(code, f"{kms_key} {problem}.", HTTPStatus.BAD_REQUEST)
    needed = use_of(kms_key, bucket=bucket, key=key, action=action)
    try:
        authorization.require_caller(
            headers=headers, action=action, resource=needed.resource, context=needed.context
        )
    except ServiceError as error:
        return _error("AccessDenied", str(error), HTTPStatus.FORBIDDEN)
    return None


def _error(code: str, message: str, status: HTTPStatus) -> Response:
    return s3._error(code, message, status.value)


def make_for_service(name: str) -> None:
    """Create a group as a service does that writes to one: if it is not there, without an end."""
    if name not in cloudwatch_logs._log_groups:
        response = cloudwatch_logs._create_log_group({"logGroupName": name})
        if response[0] >= HTTPStatus.BAD_REQUEST:
            raise Refused(f"CloudWatch Logs refused {name}: {response[2]!r}")


def _create_log_group(
    unchecked: Callable[..., Created], logical_id: str, properties: Properties, stack: str
) -> Created:
    _require_key(properties, stack=stack, logical_id=logical_id)
    return unchecked(logical_id, properties, stack)


def _update_log_group(unchecked: Callable[..., Created], *change: Any) -> Created:
    physical_id, old, new, stack, *rest = change
    if old.get("KmsKeyId") != new.get("KmsKeyId"):
        _require_key(new, stack=stack, logical_id=rest[0] if rest else physical_id)
    return unchecked(*change)


def _require_key(properties: Properties, *, stack: str, logical_id: str) -> None:
    """Refuse a key that CloudWatch Logs cannot encrypt a group with, as `CreateLogGroup` does.

    https://docs.aws.amazon.com/AmazonCloudWatch/latest/logs/encrypt-log-data-kms.html; in the words
    of https://github.com/hashicorp/terraform-provider-aws/issues/8042.
    """
    key = properties.get("KmsKeyId")
    if key is None:
        return
    # As CloudFormation names a group; MiniStack gives it another name.
    name = properties.get("LogGroupName") or f"{stack}-{logical_id}-1A2B3C4D5E6F"
    arn = f"arn:aws:logs:{get_region()}:{get_account_id()}:log-group:{name}"
    if key_problem(key) is not None or refuse_logs(key, log_group_arn=arn):
        raise Refused(
            "AccessDeniedException: The specified KMS key does not exist or is not allowed to be "
            f"used with Arn '{arn}'"
        )
