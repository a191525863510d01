"""Asks Amazon Managed Service for Prometheus what a query finds over a time."""

import json
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime
from http import HTTPStatus
from urllib.parse import urlencode

from botocore.auth import SigV4Auth
from botocore.awsrequest import AWSRequest
from botocore.exceptions import NoCredentialsError
from botocore.httpsession import URLLib3Session
from botocore.utils import get_environ_proxies

from hyperpod_cli.aws.session import AwsSession
from hyperpod_cli.terminal.errors import OpsError

_SERVICE = "aps"
_TIMEOUT_SECONDS = 60
_FORM = "application/x-www-form-urlencoded"


@dataclass(frozen=True, kw_only=True, slots=True)
class Series:
    """What a query finds of one thing: labels, and values with their seconds since 1970 before."""

    labels: Mapping[str, str]
    samples: Sequence[tuple[float, float]]


def _read(content: bytes, *, endpoint: str) -> list[Series]:
    try:
        return [
            Series(
                labels=row["metric"],
                samples=[(float(moment), float(value)) for moment, value in row["values"]],
            )
            for row in json.loads(content)["data"]["result"]
        ]
    except (ValueError, KeyError, TypeError):
        raise OpsError(
            f"--actual: {endpoint} does not answer like Prometheus; check the output "
            "PrometheusEndpoint of the stack"
        ) from None


def series(
    query: str,
    *,
    endpoint: str,
    session: AwsSession,
    start: datetime,
    end: datetime,
    step_seconds: int,
) -> list[Series]:
    """Return what a query in PromQL finds at every step from one time to another.

    The endpoint is the URL of a workspace, without a slash at its end.

    https://docs.aws.amazon.com/prometheus/latest/userguide/AMP-APIReference-Prometheus-Compatible-Apis.html
    """
    asked = {
        "query": query,
        "start": start.timestamp(),
        "end": end.timestamp(),
        "step": step_seconds,
    }
    url, headers = f"{endpoint}/api/v1/query_range", {"Content-Type": _FORM}
    request = AWSRequest(method="POST", url=url, data=urlencode(asked), headers=headers)
    credentials = session.profile.get_credentials()
    if credentials is None:
        raise NoCredentialsError
    SigV4Auth(credentials, _SERVICE, session.region).add_auth(request)
    http = URLLib3Session(proxies=get_environ_proxies(url), timeout=_TIMEOUT_SECONDS)
    answer = http.send(request.prepare())
    if answer.status_code != HTTPStatus.OK:
        raise OpsError(
            f"--actual: {endpoint} answers {answer.status_code}: {answer.text[:300]}; "
            "the caller needs aps:QueryMetrics on the workspace"
        )
    return _read(answer.content, endpoint=endpoint)
