"""Serves the HyperPod API over HTTP on the loopback interface."""

from __future__ import annotations

import asyncio
import json
import time
import uuid
from concurrent.futures import Future
from threading import Thread
from typing import Any, Self

from aiohttp import web

from emulator.hyperpod.service import HyperPodService
from emulator.hyperpod.simulation.errors import ApiError
from emulator.hyperpod.simulation.faults import Faults
from emulator.hyperpod.simulation.hooks import Caller
from emulator.hyperpod.validation.group_rules import quotas_by_name

HOST = "127.0.0.1"
TARGET_PREFIX = "SageMaker."
CONTENT_TYPE = "application/x-amz-json-1.1"
# Observers hear of a change at most this many seconds after it was due.
TICK_SECONDS = 0.05


class HyperPodApi:
    """The HyperPod API on a free port, in a separate thread.

    Use it as a context manager, or call `start` and `stop`.

    Args:
        service: What answers; default: a service on the wall clock.
    """

    def __init__(self, *, service: HyperPodService | None = None) -> None:
        self.service = service or HyperPodService(clock=time.time)
        self._thread: Thread | None = None
        self._url: Future[str] = Future()
        self._stop: Future[None] = Future()

    @property
    def url(self) -> str:
        """Where it listens.

        Raises:
            RuntimeError: It has not been started.
        """
        if self._thread is None:
            message = "the HyperPod API has not been started"
            raise RuntimeError(message)
        return self._url.result()

    def start(self) -> Self:
        """Start, and return when requests are answered."""
        self._url, self._stop = Future(), Future()
        self._thread = Thread(target=self._run, name="hyperpod-api", daemon=True)
        self._thread.start()
        self._url.result()
        return self

    def stop(self) -> None:
        """Stop, and return when the port is free. Stopping twice is harmless."""
        if self._thread is None:
            return
        if not self._stop.done():
            self._stop.set_result(None)
        self._thread.join()
        self._thread = None

    def __enter__(self) -> Self:
        return self.start()

    def __exit__(self, *_error: object) -> None:
        self.stop()

    def _run(self) -> None:
        asyncio.run(self._serve())

    async def _serve(self) -> None:
        application = web.Application()
        application.router.add_post("/", self._answer)
        application.router.add_put("/faults", self._replace_faults)
        application.router.add_get("/quotas", self._quotas)
        runner = web.AppRunner(application, access_log=None)
        await runner.setup()
        try:
            site = web.TCPSite(runner, HOST, 0)
            await site.start()
            port = runner.addresses[0][1]
            self._url.set_result(f"http://{HOST}:{port}")
            await self._tick_until_stopped()
        except OSError as error:
            self._url.set_exception(error)
        finally:
            await runner.cleanup()

    async def _tick_until_stopped(self) -> None:
        stopped = asyncio.wrap_future(self._stop)
        while not stopped.done():
            await asyncio.to_thread(self.service.advance)
            await asyncio.wait([stopped], timeout=TICK_SECONDS)

    async def _replace_faults(self, request: web.Request) -> web.Response:
        """Put other faults in force: names of groups by the attributes of `Faults`."""
        groups = _members(await request.read())
        chosen: dict[str, Any] = {name: frozenset(names) for name, names in groups.items()}
        await asyncio.to_thread(setattr, self.service, "faults", Faults(**chosen))
        return web.Response()

    async def _quotas(self, _request: web.Request) -> web.Response:
        """Return the quotas on instances, which Service Quotas shows."""
        return _response(dict(quotas_by_name(self.service.faults.quotas)), web.HTTPOk.status_code)

    async def _answer(self, request: web.Request) -> web.Response:
        try:
            operation = request.headers.get("X-Amz-Target", "").removeprefix(TARGET_PREFIX)
            members = _members(await request.read())
            caller = Caller.from_headers(request.headers)
            # In a thread, because the environment's checks may call other local services.
            answer = await asyncio.to_thread(self.service.call, operation, members, caller)
        except ApiError as error:
            return _response({"__type": error.code, "message": error.message}, error.status)
        return _response(answer, web.HTTPOk.status_code)


def _members(body: bytes) -> dict[str, Any]:
    try:
        members = json.loads(body or b"{}")
    except ValueError:
        members = None
    if not isinstance(members, dict):
        message = "The request body is not a JSON object."
        raise ApiError(code="SerializationException", message=message)
    return members


def _response(body: dict[str, Any], status: int) -> web.Response:
    return web.Response(
        text=json.dumps(body),
        status=status,
        content_type=CONTENT_TYPE,
        headers={"x-amzn-RequestId": str(uuid.uuid4())},
    )
