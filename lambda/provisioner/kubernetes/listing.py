"""Lists what every install asks for: namespaces, CustomResourceDefinitions, the release if any.

Over HTTPS, because helm and kubectl take longer to start than the requests take: the binaries are
read from the layer first. Only metadata is asked for; definitions in full are megabytes.
"""

import base64
import json
import ssl
from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass
from http import HTTPStatus
from http.client import HTTPException, HTTPSConnection
from urllib.parse import quote, urlsplit

from provisioner.kubernetes.failures import CommandFailedError
from provisioner.kubernetes.manifest import DEFINITION, NAMESPACE

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
class ClusterListing:
    """Lists over HTTPS.

    Args:
        server: Endpoint and certificate authority, as a kubeconfig has them.
        token: Makes a token.
    """

    server: Mapping[str, str]
    token: Callable[[], str]

    def containers(self, *, timeout_seconds: float) -> Containers:
        """Return the namespaces and definitions that there are.

        Raises:
            CommandFailedError: The API refused or could not be reached.
        """
        found = dict(zip(_PATHS, self._listed(_PATHS.values(), timeout_seconds), strict=True))
        return Containers(
            names={kind: frozenset(deleted) for kind, deleted in found.items()},
            going=frozenset(
                (kind, name)
                for kind, deleted in found.items()
                for name, gone in deleted.items()
                if gone
            ),
        )

    def has_release(self, name: str, *, namespace: str, timeout_seconds: float) -> bool:
        """Say whether helm stores any revision of a release.

        Raises:
            CommandFailedError: The API refused or could not be reached.
        """
        selector = quote(f"owner=helm,name={name}")
        path = f"/api/v1/namespaces/{quote(namespace)}/secrets?labelSelector={selector}"
        (revisions,) = self._listed([path], timeout_seconds)
        return bool(revisions)

    def _listed(self, paths: Iterable[str], timeout_seconds: float) -> list[dict[str, bool]]:
        """Return the names at each path, and whether each is being deleted."""
        endpoint = urlsplit(self.server["server"])
        connection = HTTPSConnection(
            endpoint.hostname or "",
            endpoint.port,
            timeout=timeout_seconds,
            context=_trust(self.server.get("certificate-authority-data")),
        )
        try:
            return [self._metadata(connection, path) for path in paths]
        except (OSError, HTTPException) as error:
            raise CommandFailedError(
                f"cluster unreachable: {self.server['server']}: {error}"
            ) from error
        finally:
            connection.close()

    def _metadata(self, connection: HTTPSConnection, path: str) -> dict[str, bool]:
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
