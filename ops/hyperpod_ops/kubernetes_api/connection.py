"""Reaches the Kubernetes API of an EKS cluster with the credentials of AWS."""

import base64
import ssl
from collections.abc import Iterator
from contextlib import contextmanager
from http import HTTPStatus
from typing import Any

from botocore.exceptions import ClientError
from kubernetes.client import ApiClient, ApiException, Configuration
from urllib3 import PoolManager
from urllib3.exceptions import HTTPError

from hyperpod_ops.errors import OpsError
from hyperpod_ops.session import AwsSession
from provisioner.aws.clients import Clients
from provisioner.aws.errors import is_not_found

_TIMEOUT_SECONDS = 10.0
_DENIED = (HTTPStatus.UNAUTHORIZED, HTTPStatus.FORBIDDEN)


class _Client(ApiClient):  # type: ignore[misc] # the package has no types
    """Asks no more once it has not reached the API: who asks for ten things waits once."""

    _lost: HTTPError | None = None

    def call_api(self, *given: Any, **named: Any) -> Any:  # noqa: ANN401 - as the client has it
        if self._lost is not None:
            raise self._lost
        try:
            return super().call_api(*given, **named)
        except HTTPError as error:
            self._lost = error
            raise


@contextmanager
def kubernetes_api(session: AwsSession, *, eks_cluster: str) -> Iterator[ApiClient]:
    """Yield a client of a cluster's Kubernetes API, good for 15 minutes.

    Args:
        session: The account and the region.
        eks_cluster: Name of the EKS cluster.

    Raises:
        OpsError: There is no such cluster, it cannot be reached, or the caller may not do what was
            asked of it.
        ClientError: AWS refused to describe the cluster.
        BotoCoreError: AWS could not be asked.
    """
    region = session.region
    try:
        found = session.client("eks").describe_cluster(name=eks_cluster)["cluster"]
    except ClientError as error:
        if not is_not_found(error):
            raise
        raise OpsError(f"EKS cluster: {eks_cluster!r} is not in {region}") from None
    signer = Clients(region=region, session=session.session).token_signer
    with _client(found, token=signer.token(eks_cluster)) as client, told_in_a_line(client):
        yield client


@contextmanager
def told_in_a_line(client: ApiClient) -> Iterator[None]:
    """Have what a Kubernetes API refuses told in a line.

    Args:
        client: Its client.

    Raises:
        OpsError: The API was not reached, or refused something.
    """
    try:
        yield
    except HTTPError as error:
        raise OpsError(
            f"Kubernetes API: {client.configuration.host} cannot be reached ({error}); a private "
            "endpoint is reached from the VPC alone, and eks.public_access_cidrs names who reaches "
            "a public one"
        ) from None
    except ApiException as error:
        if error.status not in _DENIED:
            raise OpsError(
                f"Kubernetes API: {error.status} {error.reason}; run it again in a minute"
            ) from None
        raise OpsError(
            f"Kubernetes API: {error.status} {error.reason}; list your role under eks.viewers "
            "(under eks.admins for Helm's secrets) and deploy, or run the command in the output "
            "GrantAdminCommand of the platform stack"
        ) from None


def _client(found: dict[str, Any], *, token: str) -> ApiClient:
    configuration = Configuration(host=found["endpoint"])
    configuration.api_key = {"authorization": f"Bearer {token}"}
    configuration.retries = False
    client = _Client(configuration)
    authority = (found.get("certificateAuthority") or {}).get("data")
    context = ssl.create_default_context(
        cadata=base64.b64decode(authority).decode() if authority else None
    )
    # EKS's certificates lack an authority key identifier, which Python 3.13 and later ask for:
    # https://github.com/kubernetes-client/python/issues/2394
    context.verify_flags &= ~ssl.VERIFY_X509_STRICT
    client.rest_client.pool_manager = PoolManager(
        ssl_context=context, timeout=_TIMEOUT_SECONDS, retries=False
    )
    return client
