"""The web application: injected faults, authentication, and the dispatch of every request."""

import asyncio
import json
import threading
import time
from dataclasses import dataclass, field
from functools import partial

from aiohttp import web

from hyperpod_emulator.kubernetes.controllers.scheduling import aggregated
from hyperpod_emulator.kubernetes.faults import Fault
from hyperpod_emulator.kubernetes.objects.errors import (
    ApiError,
    Object,
    method_not_allowed,
    no_such_path,
    unauthorized,
)
from hyperpod_emulator.kubernetes.objects.policies import CALLER, Caller
from hyperpod_emulator.kubernetes.objects.resources import ApiResource, ResourceCatalog
from hyperpod_emulator.kubernetes.objects.store import ResourcePath
from hyperpod_emulator.kubernetes.server import bodies, discovery
from hyperpod_emulator.kubernetes.server.authentication import (
    ACCESS_REVIEW,
    Authenticate,
    Principal,
    forbidden,
    may,
    reviewed,
)
from hyperpod_emulator.kubernetes.server.handlers import FINALIZE, HANDLERS, verb_of
from hyperpod_emulator.kubernetes.server.operations import Operations
from hyperpod_emulator.kubernetes.server.pod_logs import LOG
from hyperpod_emulator.kubernetes.server.requests import RequestPath, parse

# Other threads clear the faults, and no event loop of theirs can wake a request.
_PAUSE_SECONDS = 0.05


@dataclass(slots=True)
class Faults:
    """The faults in force."""

    _faults: list[Fault] = field(default_factory=list)
    _clearings: int = 0
    _lock: threading.Lock = field(default_factory=threading.Lock)

    def add(self, fault: Fault) -> None:
        """Put a fault in force."""
        with self._lock:
            self._faults.append(fault)

    def clear(self) -> None:
        """End all faults, and the waiting of the requests that they have hit."""
        with self._lock:
            self._faults.clear()
            self._clearings += 1

    async def hit(self, request: web.Request, *, verb: str, kind: str) -> None:
        """Let the fault in force for a request hit it: an error, or a dropped connection."""
        clearings = self._clearings
        fault = self._take(verb=verb, kind=kind)
        if fault is None:
            return
        end = time.monotonic() + fault.delay_seconds
        while self._clearings == clearings and (left := end - time.monotonic()) > 0:
            await asyncio.sleep(min(left, _PAUSE_SECONDS))
        if fault.drop:
            if request.transport is not None:
                request.transport.abort()
            message = "the connection was dropped by an injected fault"
            raise ConnectionResetError(message)
        if not fault.passes:
            raise ApiError(fault.code, fault.reason, fault.message)

    def _take(self, *, verb: str, kind: str) -> Fault | None:
        """Return the fault in force for a request, and count it."""
        with self._lock:
            for fault in self._faults:
                if (not fault.verbs or verb in fault.verbs) and fault.kind in ("", kind):
                    if fault.times is not None:
                        fault.times -= 1
                        if fault.times <= 0:
                            self._faults.remove(fault)
                    return fault
        return None


_HEALTH = ("/healthz", "/livez", "/readyz")
_LARGEST_BODY = 16 * 1024 * 1024  # bytes; CRDs of 250 KB arrive several to a request
# Clients ask for version 2 when version 3 does not know a kind; an empty document does not either.
_OPENAPI_V2 = "application/com.github.proto-openapi.spec.v2.v1.0+protobuf"
# As client-go words the text that the aggregation layer answers.
_UNAVAILABLE = "the server is currently unable to handle the request"


class Application:
    """Serves one cluster."""

    def __init__(
        self,
        *,
        kubernetes_version: str,
        catalog: ResourceCatalog,
        operations: Operations,
        faults: Faults,
        authenticate: Authenticate,
    ) -> None:
        major, minor = kubernetes_version.split(".")
        self._version = {
            "major": major,
            "minor": minor,
            "gitVersion": f"v{kubernetes_version}.0-emulation",
            # Clients check that each is a text.
            "buildDate": "1970-01-01T00:00:00Z",
            "compiler": "",
            "gitCommit": "",
            "gitTreeState": "clean",
            "goVersion": "",
            "platform": "linux/amd64",
        }
        self._catalog = catalog
        self._operations = operations
        self._faults = faults
        self._authenticate = authenticate

    def web_application(self) -> web.Application:
        """Return the application for aiohttp to run."""
        application = web.Application(client_max_size=_LARGEST_BODY)
        application.router.add_route("*", "/{path:.*}", self._answer)
        return application

    async def _answer(self, request: web.Request) -> web.StreamResponse:
        try:
            return await self._served(request)
        except ApiError as error:
            body = json.dumps(error.status()).encode()
            return web.Response(body=body, status=error.code, content_type=bodies.JSON)

    async def _served(self, request: web.Request) -> web.StreamResponse:
        path = request.rel_url.raw_path
        named = parse(path)
        if named is None or not named.plural:
            await self._faults.hit(request, verb="", kind="")
            if path in _HEALTH:
                return web.Response(text="ok")
            if path.rstrip("/") == "/version":
                return web.json_response(self._version)
            await self._principal(request)
            if path == "/openapi/v2":
                return web.Response(body=b"", content_type=_OPENAPI_V2)
            return web.json_response(self._document(path, named))
        principal = await self._principal(request)
        self._check_aggregated(named)
        return await self._on_objects(request, named, principal)

    def _aggregated(self) -> dict[tuple[str, str], bool]:
        return aggregated(self._operations.store, self._catalog)

    def _check_aggregated(self, named: RequestPath) -> None:
        """Refuse a request to an aggregated API that does not answer (503)."""
        if not self._aggregated().get((named.group, named.version), True):
            raise ApiError(503, "ServiceUnavailable", _UNAVAILABLE)

    async def _principal(self, request: web.Request) -> Principal:
        scheme, _, token = request.headers.get("Authorization", "").partition(" ")
        principal = await self._authenticate(token) if scheme.lower() == "bearer" else None
        if principal is None:
            raise unauthorized()
        return principal

    def _document(self, path: str, named: RequestPath | None) -> Object:
        """What describes the server: discovery and OpenAPI."""
        if named is not None:
            return self._discovered(named, is_core=path.strip("/") == "api")
        if path == "/openapi/v3":
            return discovery.openapi_index(self._catalog)
        if path.startswith("/openapi/v3/"):
            return discovery.openapi_document(self._catalog, path.removeprefix("/openapi/v3/"))
        raise no_such_path()

    def _discovered(self, named: RequestPath, *, is_core: bool) -> Object:
        group, version = named.group, named.version
        self._check_aggregated(named)
        if (group, version) in self._aggregated():
            return discovery.aggregated_resource_list(group=group, version=version)
        if version:
            return discovery.resource_list(self._catalog, group=group, version=version)
        if group:
            raise no_such_path()
        if is_core:
            return discovery.core_versions()
        return discovery.group_list(self._catalog, aggregated=self._aggregated())

    async def _on_objects(
        self, request: web.Request, named: RequestPath, principal: Principal
    ) -> web.StreamResponse:
        place = (named.group, named.version, named.plural)
        if place == ACCESS_REVIEW and request.method == "POST":
            body = await bodies.read_object(request)
            return web.json_response(reviewed(body, principal=principal))
        resource = self._catalog.by_path(
            group=named.group, version=named.version, plural=named.plural
        )
        if (
            resource is None
            or (named.namespace and not resource.namespaced)
            or (named.name and resource.namespaced and not named.namespace)
            or named.subresource not in _subresources(resource)
        ):
            raise no_such_path()
        verb = verb_of(request, name=named.name)
        if named.subresource == LOG and verb != "get":
            raise method_not_allowed()
        where = {"namespace": named.namespace, "name": named.name}
        if not principal.of_aws:
            await self._faults.hit(request, verb=verb, kind=resource.kind)
        if not _may(principal, named, verb=verb):
            raise forbidden(principal, verb=verb, resource=resource, **where)
        target = ResourcePath(resource, named.namespace, named.name)
        CALLER.set(Caller(username=principal.username, may=partial(may, principal)))
        return await HANDLERS[verb](request, self._operations, target, named.subresource)


def _may(principal: Principal, named: RequestPath, *, verb: str) -> bool:
    # Kubernetes authorizes what is asked of one namespace object in that namespace.
    is_namespace = (named.group, named.plural) == ("", "namespaces")
    return may(
        principal,
        verb=verb,
        group=named.group,
        resource=f"{named.plural}/{named.subresource}" if named.subresource else named.plural,
        namespace=named.name if is_namespace else named.namespace,
    )


def _subresources(resource: ApiResource) -> tuple[str, ...]:
    status = ("status",) if resource.has_status else ()
    own = {"Namespace": (FINALIZE,), "Pod": (LOG,)}.get(resource.kind, ())
    return ("", *status, *own)
