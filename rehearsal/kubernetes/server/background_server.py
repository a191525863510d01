"""Runs an aiohttp application over TLS in a separate thread."""

import asyncio
import ssl
import threading
from collections.abc import Callable

from aiohttp import web

_START_SECONDS = 300.0
_STOP_SECONDS = 300.0
_HOST = "127.0.0.1"


class BackgroundServer:
    """A server on a free port of the loopback address."""

    def __init__(
        self, *, application: Callable[[], web.Application], context: ssl.SSLContext, name: str
    ) -> None:
        self._application = application
        self._context = context
        self._name = name
        self._thread: threading.Thread | None = None
        self._loop: asyncio.AbstractEventLoop | None = None
        self._stop = asyncio.Event()
        self._started = threading.Event()
        self._failure: BaseException | None = None
        self.port = 0

    def start(self) -> None:
        """Start and wait until it listens.

        Raises:
            RuntimeError: It runs already, or does not start.
        """
        if self._thread is not None:
            message = f"{self._name} runs already"
            raise RuntimeError(message)
        self._stop = asyncio.Event()
        self._started.clear()
        self._failure = None
        self._thread = threading.Thread(target=self._run, name=self._name, daemon=True)
        self._thread.start()
        if not self._started.wait(_START_SECONDS) or self._failure is not None:
            self._thread = None
            message = f"{self._name} did not start"
            raise RuntimeError(message) from self._failure

    def stop(self) -> None:
        """Stop, ending open connections; harmless when it does not run."""
        if self._thread is None or self._loop is None:
            return
        self._loop.call_soon_threadsafe(self._stop.set)
        self._thread.join(_STOP_SECONDS)
        self._thread = None

    def _run(self) -> None:
        asyncio.run(self._serve())

    async def _serve(self) -> None:
        self._loop = asyncio.get_running_loop()
        runner = web.AppRunner(
            self._application(), access_log=None, handler_cancellation=True, shutdown_timeout=0.1
        )
        await runner.setup()
        try:
            site = web.TCPSite(runner, _HOST, self.port, ssl_context=self._context)
            await site.start()
            self.port = runner.addresses[0][1]
        except OSError as error:
            self._failure = error
        self._started.set()
        if self._failure is None:
            await self._stop.wait()
        await runner.cleanup()
