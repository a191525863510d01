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
    try:
        with _client(found, token=Clients(region=region).token_signer.token(eks_cluster)) as client:
            yield client
    except HTTPError as error:
        raise OpsError(
            f"Kubernetes API: {found.get('endpoint')} cannot be reached ({error}); a private "
            "endpoint is reached from the VPC alone, and eks.public_access_cidrs names who reaches "
            "a public one"
        ) from None
    except ApiException as error:
        if error.status not in _DENIED:
            raise OpsError(f"Kubernetes API: {error.status} {error.reason}") from None
        raise OpsError(
            f"Kubernetes API: {error.status} {error.reason}; list your role under eks.viewers or "
            "eks.admins and deploy, or run the command in the output GrantAdminCommand of the "
            "platform stack"
        ) from None


def _client(found: dict[str, Any], *, token: str) -> ApiClient:
    configuration = Configuration(host=found["endpoint"])
    configuration.api_key = {"authorization": f"Bearer {token}"}
    configuration.retries = False
    client = ApiClient(configuration)
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
