"""Encryption of buckets.

Objects encrypted with a KMS key: who puts and gets them uses the key.

https://docs.aws.amazon.com/AmazonS3/latest/userguide/UsingKMSEncryption.html
"""

from collections.abc import Callable, Mapping
from http import HTTPStatus
from typing import Any
from xml.sax.saxutils import escape

from emulator.aws import kms_keys
from emulator.aws.iam import authorization
from emulator.aws.iam.authorization import Permission
from emulator.aws.json_service import ServiceError
from emulator.aws.ministack import get_account_id, get_region, kms, provisioners, router, s3

_Created = tuple[str, dict[str, Any]]
_Response = tuple[int, dict[str, str], bytes]
_ALGORITHM = "x-amz-server-side-encryption"
_KEY = f"{_ALGORITHM}-aws-kms-key-id"
# Who may use the bucket may use this one, which S3 takes where no key is named.
_AWS_MANAGED = "alias/aws/s3"


def install() -> None:
    """Have S3 ask for rights on the key of an object that is put or got."""
    put: Callable[..., _Response] = s3.put_object
    get: Callable[..., _Response] = s3.get_object

    def put_object(bucket: str, key: str, body: bytes, headers: Mapping[str, str]) -> _Response:
        default = s3.bucket_default_sse_headers(bucket)
        kms_key = headers.get(_KEY) or default.get(_KEY)
        # A data key for each object, or for the bucket for a time.
        refused = _refusal(kms_key, bucket, key, headers=headers, action="kms:GenerateDataKey")
        return refused or put(bucket, key, body, headers)

    def get_object(bucket: str, key: str, headers: Mapping[str, str], *rest: Any) -> _Response:
        kms_key = key_of(bucket, key)
        refused = _refusal(kms_key, bucket, key, headers=headers, action="kms:Decrypt")
        return refused or get(bucket, key, headers, *rest)

    resolve: Callable[..., _Response] = s3.resolve_sse_write_headers

    def resolve_headers(headers: Mapping[str, str], bucket: str) -> _Response:
        if headers.get(_ALGORITHM) == "aws:kms" and not headers.get(_KEY):
            headers = {**headers, _KEY: _AWS_MANAGED}
        return resolve(headers, bucket)

    s3.resolve_sse_write_headers = resolve_headers
    s3.put_object = put_object
    s3.get_object = get_object
    handlers = provisioners.RESOURCE_HANDLERS["AWS::S3::Bucket"]
    for name in ("create", "update"):
        handlers[name] = _with_default_encryption(handlers[name])


def _with_default_encryption(unencrypted: Callable[..., _Created]) -> Callable[..., _Created]:
    """Have a handler of CloudFormation's set how a bucket encrypts what is put into it.

    S3 does not look at the key then:
    https://docs.aws.amazon.com/AmazonS3/latest/API/API_PutBucketEncryption.html
    """

    def handle(identifier: str, *rest: Any) -> _Created:
        made = unencrypted(identifier, *rest)
        properties = next(each for each in reversed(rest) if isinstance(each, Mapping))
        rules = properties.get("BucketEncryption", {}).get("ServerSideEncryptionConfiguration", [])
        for rule in rules:
            s3.put_bucket_encryption(made[0], _rule_xml(rule))
        if not rules:
            s3.delete_bucket_encryption(made[0])
        return made

    return handle


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
    objects = (s3.buckets.get(bucket) or {}).get("objects", {})
    found: str | None = (objects.get(key) or {}).get("preserved_headers", {}).get(_KEY)
    return None if found == _AWS_MANAGED else found


def use_of(kms_key: str, *, bucket: str, key: str, action: str) -> Permission:
    """Return what S3 asks for when it uses a key for somebody.

    Args:
        kms_key: The key, by id or ARN.
        bucket: Name of the bucket.
        key: The object's.
        action: What it does with the key.
    """
    arn = f"arn:aws:s3:::{bucket}"
    has_bucket_key = "<BucketKeyEnabled>true" in s3.bucket_encryption.get(bucket, "")
    return Permission(
        action=action,
        resource=kms.resolve_key(kms_key)["Arn"],
        context={
            "kms:ViaService": f"s3.{get_region()}.amazonaws.com",
            "kms:CallerAccount": get_account_id(),
            "kms:EncryptionContext:aws:s3:arn": arn if has_bucket_key else f"{arn}/{key}",
        },
    )


def _refusal(
    kms_key: str | None, bucket: str, key: str, *, headers: Mapping[str, str], action: str
) -> _Response | None:
    if kms_key is None or not router.extract_access_key_id(headers, {}):
        return None
    problem = kms_keys.problem(kms_key)
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


def _error(code: str, message: str, status: HTTPStatus) -> _Response:
    response: _Response = s3.error(code, message, status.value)
    return response
