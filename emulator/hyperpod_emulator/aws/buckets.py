"""What S3 asks of a request before it looks at objects, and MiniStack does not."""

from collections.abc import Callable, Mapping
from http import HTTPStatus
from typing import Any

from hyperpod_emulator.aws.ministack import Response, iam_actions, s3, wrap


def install() -> None:
    """Deny what expects another owner of a bucket, and tags without a right to set them.

    https://docs.aws.amazon.com/AmazonS3/latest/userguide/bucket-owner-condition.html
    https://docs.aws.amazon.com/AmazonS3/latest/API/API_PutObject.html
    """

    def dispatch_to_owner(dispatch: Callable[..., Response], *request: Any) -> Response:
        _method, bucket, _key, headers, *_rest = request
        owner = s3._bucket_owner_account(bucket)
        if owner is not None and headers.get("x-amz-expected-bucket-owner", owner) != owner:
            return s3._error("AccessDenied", "Access Denied", HTTPStatus.FORBIDDEN.value)
        return dispatch(*request)

    def checks_with_tags(
        checks: Callable[..., list[tuple[str, str]]],
        method: str,
        path: str,
        headers: Mapping[str, str],
        *rest: Any,
    ) -> list[tuple[str, str]]:
        found = checks(method, path, headers, *rest)
        if method == "PUT" and "x-amz-tagging" in headers:
            found.append(("s3:PutObjectTagging", f"arn:aws:s3:::{path.lstrip('/')}"))
        return found

    wrap(s3, "_dispatch", dispatch_to_owner)
    wrap(iam_actions, "s3_additional_checks", checks_with_tags)
