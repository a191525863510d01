"""The control plane of a rehearsal: the API server of this package, with EKS's callers."""

import secrets

import boto3

from emulator.kubernetes.server.api import KubernetesApi
from emulator.kubernetes.server.authentication import Authenticate, Principal
from emulator.kubernetes.server.eks_tokens import eks_tokens


class InProcessControlPlane(KubernetesApi):
    """Stands in for the control plane of one EKS cluster.

    Attributes:
        admin_token: Bearer token of a cluster admin; drawn anew for each rehearsal.
        addons_token: Bearer token with which EKS installs add-ons; likewise.
    """

    def __init__(self, *, kubernetes_version: str) -> None:
        """Prepare the cluster; nothing listens yet.

        Args:
            kubernetes_version: Minor version, such as `1.34`.

        Raises:
            ValueError: There are no schemas of this Kubernetes version.
        """
        super().__init__(kubernetes_version=kubernetes_version, authenticate=self._authenticate)
        self.admin_token = secrets.token_urlsafe()
        self.addons_token = secrets.token_urlsafe()
        self._eks: Authenticate | None = None

    def accept_eks_tokens(
        self, *, eks_cluster_name: str, gateway_url: str, session: boto3.Session
    ) -> None:
        """Authenticate the tokens of an EKS cluster from now on; until then none is accepted."""
        self._eks = eks_tokens(gateway_url, eks_cluster_name, session=session)

    async def _authenticate(self, token: str) -> Principal | None:
        if secrets.compare_digest(token.encode(), self.admin_token.encode()):
            return Principal(username="rehearsal", allowed=True)
        if secrets.compare_digest(token.encode(), self.addons_token.encode()):
            return Principal(username="eks:addon-manager", allowed=True, of_aws=True)
        return None if self._eks is None else await self._eks(token)
