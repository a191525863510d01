"""Reaches the Kubernetes API of an EKS cluster with the credentials of AWS.

What asks it raises ApiException where it refuses, and HTTPError where it cannot be reached.
"""

import base64
import ssl
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from http import HTTPStatus
from typing import Any, NoReturn

from botocore.httpsession import ProxyConfiguration
from botocore.utils import get_environ_proxies
from kubernetes.client import ApiClient, ApiException, Configuration
from urllib3 import PoolManager, ProxyManager
from urllib3.exceptions import HTTPError, ProtocolError, ReadTimeoutError, SSLError

from hyperpod_cli.aws.session import AwsSession, answer_of
from hyperpod_cli.terminal.errors import OpsError, TransientError
from hyperpod_shared.eks_token import token_signer

_TIMEOUT_SECONDS = 10.0
_NO_STATUS = 0
_FAULT = HTTPStatus.INTERNAL_SERVER_ERROR
_DENIED = (HTTPStatus.UNAUTHORIZED, HTTPStatus.FORBIDDEN)


class _Client(ApiClient):  # type: ignore[misc] # the package has no types
    """Asks no more once it has not reached the API: who asks for ten things waits once."""

    _lost: HTTPError | None = None

    def request(self, *given: Any, **named: Any) -> Any:  # noqa: ANN401 - as the client has it
        try:
            return super().request(*given, **named)
        except ApiException as error:
            if error.status != _NO_STATUS:
                raise
            # The client's form of it, upon which its own next step fails.
            raise SSLError(" ".join(str(error.reason).split())) from None

    def call_api(self, *given: Any, **named: Any) -> Any:  # noqa: ANN401 - as the client has it
        if self._lost is not None:
            raise self._lost
        try:
            return super().call_api(*given, **named)
        except HTTPError as error:
            self._lost = error
            raise


class _Unreached(ApiClient):  # type: ignore[misc] # the package has no types
    """Answers each request with the reason why there is no connection."""

    def __init__(self, error: Exception) -> None:
        super().__init__(Configuration())
        self._error = error

    def call_api(self, *_given: Any, **_named: Any) -> NoReturn:
        raise self._error


def unreached(error: Exception) -> ApiClient:
    """Return a client in place of one that could not be made; each request raises the reason."""
    return _Unreached(error)


@contextmanager
def kubernetes_api(session: AwsSession, *, eks_cluster: str) -> Iterator[ApiClient]:
    """Yield a client of a cluster's Kubernetes API, good for 15 minutes.

    OpsError: there is no such cluster, it cannot be reached, or the caller may not do what was
    asked.
    """
    found = described_eks_cluster(session, eks_cluster)
    signer = token_signer(session.session)
    with _client(found, token=signer.token(eks_cluster)) as client, one_line_errors(client):
        yield client


def described_eks_cluster(session: AwsSession, name: str) -> Mapping[str, Any]:
    """Return what DescribeCluster says of an EKS cluster; refuse one that cannot be reached yet."""
    answer = answer_of(session.client("eks").describe_cluster, name=name)
    if answer is None:
        raise OpsError(f"EKS cluster: {name!r} is not in {session.region}")
    found: Mapping[str, Any] = answer["cluster"]
    if not found.get("endpoint"):
        raise OpsError(
            f"EKS cluster: {name!r} is {found['status']}, without an endpoint; wait until it is "
            "ACTIVE"
        )
    return found


@contextmanager
def one_line_errors(client: ApiClient) -> Iterator[None]:
    """Have what a Kubernetes API refuses, or why it was not reached, told in a line."""
    try:
        yield
    except HTTPError as error:
        host = client.configuration.host
        if isinstance(error, SSLError):
            raise OpsError(
                f"Kubernetes API: the certificate of {host} is not of the EKS cluster ({error}); "
                "a proxy that inspects TLS replaces it: exempt that host, or add it to NO_PROXY"
            ) from None
        if isinstance(error, (ProtocolError, ReadTimeoutError)):
            raise TransientError(
                f"Kubernetes API: {host} did not answer ({error}); run it again in a minute"
            ) from None
        raise OpsError(
            f"Kubernetes API: {host} cannot be reached ({error}); a private endpoint can be "
            "reached only from the VPC, and a public one only from eks.public_access_cidrs"
        ) from None
    except ApiException as error:
        _refuse(error)


def _refuse(error: ApiException) -> NoReturn:
    if error.status in _DENIED:
        raise OpsError(
            f"Kubernetes API: {error.status} {error.reason}; list your role under eks.admins and "
            "deploy, or associate AmazonEKSAdminViewPolicy with it, which allows reading "
            "everything; AmazonEKSViewPolicy (eks.viewers) does not include nodes. The commands "
            "are in the page verify of the docs"
        ) from None
    if error.status == HTTPStatus.TOO_MANY_REQUESTS or error.status >= _FAULT:
        raise TransientError(
            f"Kubernetes API: {error.status} {error.reason}; run it again in a minute"
        ) from None
    raise OpsError(
        f"Kubernetes API: {error.status} {error.reason}; run it with --debug, and report it"
    ) from None


def _client(found: Mapping[str, Any], *, token: str) -> ApiClient:
    configuration = Configuration(host=found["endpoint"])
    configuration.api_key = {"authorization": f"Bearer {token}"}
    configuration.retries = False
    # Which it reads from the environment, and takes as it is; `_pool` has one of its own.
    configuration.proxy = None
    client = _Client(configuration)
    authority = (found.get("certificateAuthority") or {}).get("data")
    context = ssl.create_default_context(
        cadata=base64.b64decode(authority).decode() if authority else None
    )
    # EKS's certificates lack an authority key identifier, which Python 3.13 and later ask for:
    # https://github.com/kubernetes-client/python/issues/2394
    context.verify_flags &= ~ssl.VERIFY_X509_STRICT
    client.rest_client.pool_manager = _pool(found["endpoint"], context=context)
    return client


def _pool(url: str, *, context: ssl.SSLContext) -> PoolManager:
    """Return the connections to a URL: through the proxy that boto3 and kubectl would take."""
    proxies = ProxyConfiguration(get_environ_proxies(url))
    proxy = proxies.proxy_url_for(url)
    if proxy is None:
        return PoolManager(ssl_context=context, timeout=_TIMEOUT_SECONDS, retries=False)
    return ProxyManager(
        proxy,
        proxy_headers=proxies.proxy_headers_for(proxy),
        ssl_context=context,
        timeout=_TIMEOUT_SECONDS,
        retries=False,
    )


def existing(read: Callable[..., Any], *given: Any, **named: Any) -> Any | None:  # noqa: ANN401
    """Return what a read of the Kubernetes API finds; None if it is not there."""
    try:
        return read(*given, **named)
    except ApiException as error:
        if error.status != HTTPStatus.NOT_FOUND:
            raise
        return None


def condition(item: Mapping[str, Any], kind: str, status: str = "True") -> Mapping[str, Any] | None:
    """Return a condition that an object has, such as `Succeeded`; None if it does not."""
    held = (item.get("status") or {}).get("conditions") or ()
    return next((each for each in held if (each["type"], each["status"]) == (kind, status)), None)
