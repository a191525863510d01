"""The errors of AWS and of the configuration, in a line each."""

import errno
from collections.abc import Mapping

from botocore.exceptions import (
    BotoCoreError,
    ClientError,
    ConnectionError,
    HTTPClientError,
    NoCredentialsError,
    ProfileNotFound,
)

from hyperpod_cdk.helm.chart import HyperPodChartError
from hyperpod_cdk.schema.errors import ConfigError, one_line
from hyperpod_cdk.synthesis.assets import CacheError
from hyperpod_cli.terminal.errors import OpsError
from hyperpod_shared.aws_errors import is_denied, is_throttled

# The first that fits counts, so specific errors come before general ones.
_WORDS: Mapping[type[Exception] | tuple[type[Exception], ...], str] = {
    HyperPodChartError: "{words}",
    CacheError: "{words}",
    NoCredentialsError: (
        "AWS credentials: none found; set AWS_PROFILE, or sign in with `aws sso login` or "
        "`aws configure`"
    ),
    ProfileNotFound: "AWS_PROFILE: {words}; `aws configure list-profiles` lists them",
    (ConnectionError, HTTPClientError): "AWS: {words}; check the network, the proxy and the region",
    BotoCoreError: "AWS: {words}",
}
# https://docs.aws.amazon.com/IAM/latest/UserGuide/signature-v4-troubleshooting.html
_UNSIGNED = (
    "InvalidSignatureException",
    "SignatureDoesNotMatch",
    "RequestExpired",
    "RequestTimeTooSkewed",
)
_EXPIRED = ("ExpiredToken", "ExpiredTokenException", "InvalidClientTokenId", "UnrecognizedClient")


def explained(error: Exception) -> tuple[str, ...] | None:
    """Return what a user reads of an error; None for a fault of the program."""
    if isinstance(error, ConfigError | OpsError):
        return error.lines
    line = _line(error)
    return None if line is None else (line,)


def explanation(error: Exception) -> str:
    """Return what a user reads of an error, in one line; empty for a fault of the program."""
    return " ".join(explained(error) or ())


def _line(error: Exception) -> str | None:
    words = one_line(error)
    for kind, text in _WORDS.items():
        if isinstance(error, kind):
            return text.format(words=words)
    is_full = isinstance(error, OSError) and error.errno in (errno.ENOSPC, errno.EDQUOT)
    if isinstance(error, OSError) and error.filename is not None and not is_full:
        return f"{error.filename}: {error.strerror}; check the path and its permissions"
    return _refused(error) if isinstance(error, ClientError) else None


def _refused(error: ClientError) -> str:
    code = error.response["Error"]["Code"]
    words = one_line(error)
    if is_denied(error):
        return f"Not permitted: {words}; ask for that permission, or use another profile"
    if is_throttled(error):
        return f"AWS throttled the request: {words}; wait a minute and run it again"
    if code.startswith(_EXPIRED):
        return f"AWS credentials: {words}; sign in again"
    if code in _UNSIGNED:
        return f"AWS credentials: {words}; set this machine's clock, or check the secret access key"
    return f"AWS: {words}"
