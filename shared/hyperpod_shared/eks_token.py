"""Tokens for the Kubernetes API of an EKS cluster.

A token is a presigned STS GetCallerIdentity URL that names the cluster in a signed header:
https://github.com/kubernetes-sigs/aws-iam-authenticator#api-authorization-from-outside-a-cluster
"""

import base64
from dataclasses import dataclass
from typing import Any, cast

import boto3
from botocore.config import Config
from botocore.exceptions import NoCredentialsError
from botocore.signers import RequestSigner

TOKEN_PREFIX = "k8s-aws-v1."  # noqa: S105 - the public prefix of every EKS token, not a secret
CLUSTER_HEADER = "x-k8s-aws-id"
EXPIRES_SECONDS = 60
"""What the authenticator expects in the URL; EKS accepts the token for 15 minutes regardless."""

# EKS takes tokens for STS's own endpoint only, so no override may apply. botocore's own parameter,
# which its type stubs do not know.
_STS = Config(**cast("dict[str, Any]", {"ignore_configured_endpoint_urls": True}))


@dataclass(frozen=True, slots=True, kw_only=True)
class TokenSigner:
    """Makes tokens with the function's credentials, for the region's STS endpoint."""

    signer: RequestSigner
    endpoint: str
    region: str

    def token(self, cluster_name: str) -> str:
        """Return a token for the cluster, made without any call."""
        url = self.signer.generate_presigned_url(
            {
                "method": "GET",
                "url": f"{self.endpoint.rstrip('/')}/?Action=GetCallerIdentity&Version=2011-06-15",
                "body": {},
                "headers": {CLUSTER_HEADER: cluster_name},
                "context": {},
            },
            operation_name="",
            expires_in=EXPIRES_SECONDS,
            region_name=self.region,
        )
        return TOKEN_PREFIX + base64.urlsafe_b64encode(url.encode()).decode().rstrip("=")


def token_signer(session: boto3.Session) -> TokenSigner:
    """Return what signs calls to the region's own STS endpoint, with a session's credentials.

    The session must live as long as the signer: its events are held by a weak reference.

    Raises:
        NoCredentialsError: The session has no credentials.
    """
    client = session.client("sts", config=_STS)
    credentials = session.get_credentials()
    if credentials is None:
        raise NoCredentialsError
    region = client.meta.region_name
    signer = RequestSigner(
        client.meta.service_model.service_id,
        region,
        client.meta.service_model.signing_name,
        "v4",
        credentials,
        session.events,
    )
    return TokenSigner(signer=signer, endpoint=client.meta.endpoint_url, region=region)
