"""Who may use the rehearsal's Kubernetes API: EKS's callers, and the rehearsal itself."""

import secrets

from rehearsal.aws.clients import aws_session
from rehearsal.aws.local_aws import LocalAws
from rehearsal.kubernetes.server.authentication import Authenticate, Principal, static_tokens
from rehearsal.kubernetes.server.eks_tokens import eks_tokens


class KubernetesAccess:
    """Authenticates EKS tokens by the local AWS, and one token of the rehearsal's own.

    Args:
        cluster_name: EKS cluster that tokens must name.

    Attributes:
        operator_token: Bearer token of a cluster admin; drawn anew for each rehearsal.
    """

    def __init__(self, *, cluster_name: str) -> None:
        self.operator_token = secrets.token_urlsafe()
        self._cluster_name = cluster_name
        self._operator = static_tokens(
            {self.operator_token: Principal(username="rehearsal", allowed=True)}
        )
        self._eks: Authenticate | None = None

    def connect(self, aws: LocalAws) -> None:
        """Have EKS tokens checked by a local AWS from now on; until then none is accepted."""
        self._eks = eks_tokens(aws.endpoint, self._cluster_name, session=aws_session(aws))

    async def authenticate(self, token: str) -> Principal | None:
        """Return who a bearer token stands for; None when nobody vouches for it."""
        operator = await self._operator(token)
        if operator is not None or self._eks is None:
            return operator
        return await self._eks(token)
