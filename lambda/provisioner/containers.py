"""Lists what holds other objects in a cluster: namespaces and CustomResourceDefinitions.

Every install asks for it, and kubectl would take longer to start than the two requests take: the
binary is read from the layer first. Only metadata is asked for; definitions in full are megabytes.
"""

import base64
import json
import ssl
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from http import HTTPStatus
from http.client import HTTPException, HTTPSConnection
from urllib.parse import urlsplit

from provisioner.command_failures import CommandFailedError
from provisioner.manifest import DEFINITION, NAMESPACE

_PATHS = {
    NAMESPACE: "/api/v1/namespaces",
    DEFINITION: "/apis/apiextensions.k8s.io/v1/customresourcedefinitions",
}
_METADATA = "application/json;as=PartialObjectMetadataList;g=meta.k8s.io;v=v1,application/json"
_MOST_TEXT = 200


@dataclass(frozen=True, slots=True)
class Containers:
    """The namespaces and definitions of a cluster.

    Attributes:
        names: Their names, by kind.
        going: Of those, the ones that are being deleted: kind and name.
    """

    names: Mapping[str, frozenset[str]]
    going: frozenset[tuple[str, str]]


@dataclass(frozen=True, slots=True, kw_only=True)
class ContainerListing:
    """Lists them over HTTPS.

    Args:
        server: Endpoint and certificate authority, as a kubeconfig has them.
        token: Makes a token.
    """

    server: Mapping[str, str]
    token: Callable[[], str]

    def list(self, *, timeout_seconds: float) -> Containers:
        """Return what there is.

        Raises:
            CommandFailedError: The API refused or could not be reached.
        """
        endpoint = urlsplit(self.server["server"])
        connection = HTTPSConnection(
            endpoint.hostname or "",
            endpoint.port,
            timeout=timeout_seconds,
            context=_trust(self.server.get("certificate-authority-data")),
        )
        try:
            found = {kind: self._metadata(connection, path) for kind, path in _PATHS.items()}
        except (OSError, HTTPException) as error:
            raise CommandFailedError(
                f"cluster unreachable: {self.server['server']}: {error}"
            ) from error
        finally:
            connection.close()
        return Containers(
            names={kind: frozenset(deleted) for kind, deleted in found.items()},
            going=frozenset(
                (kind, name)
                for kind, deleted in found.items()
                for name, gone in deleted.items()
                if gone
            ),
        )

    def _metadata(self, connection: HTTPSConnection, path: str) -> dict[str, bool]:
        """Return the names of a kind, and whether each is being deleted."""
        headers = {"Authorization": f"Bearer {self.token()}", "Accept": _METADATA}
        connection.request("GET", path, headers=headers)
        response = connection.getresponse()
        body = response.read()
        if response.status != HTTPStatus.OK:
            text = body[:_MOST_TEXT].decode(errors="replace")
            raise CommandFailedError(f"GET {path}: {response.status} {response.reason}: {text}")
        metadata = [item["metadata"] for item in json.loads(body)["items"]]
        return {item["name"]: bool(item.get("deletionTimestamp")) for item in metadata}


def _trust(authority: str | None) -> ssl.SSLContext:
    pem = base64.b64decode(authority).decode() if authority else None
    return ssl.create_default_context(cadata=pem)
