"""One address for the local AWS of each region, as commands know one AWS.

A request says in its signature for which region it is:
https://docs.aws.amazon.com/IAM/latest/UserGuide/reference_sigv-create-signed-request.html
"""

import asyncio
import re
import threading
from collections.abc import Mapping
from typing import Self
from urllib.parse import urlsplit

from emulator.aws.local_aws import LOOPBACK

_SCOPE = re.compile(
    rb"Credential=[^/%]+(?:/|%2F)\d{8}(?:/|%2F)([a-z0-9-]+)(?:/|%2F)", re.IGNORECASE
)
_END_OF_HEAD = b"\r\n\r\n"
_CONNECTION = re.compile(rb"\r\nconnection:[^\r]*", re.IGNORECASE)
# 100 Continue, for which who sends a body may wait.
_INTERIM = b"HTTP/1.1 100"
_MOST_HEAD_BYTES = 1024 * 1024


class RegionRouter:
    """Passes each request on to the local AWS of its region; a context manager.

    Args:
        endpoints: URL of the local AWS by region; the first gets what is not signed.
    """

    def __init__(self, endpoints: Mapping[str, str]) -> None:
        self._ports = {
            region.encode(): urlsplit(url).port or 0 for region, url in endpoints.items()
        }
        self._loop = asyncio.new_event_loop()
        self._thread = threading.Thread(target=self._loop.run_forever, daemon=True)
        self._port = 0

    @property
    def endpoint(self) -> str:
        """The address."""
        return f"http://{LOOPBACK}:{self._port}"

    def __enter__(self) -> Self:
        """Listen on a free port."""
        self._thread.start()
        starting = asyncio.run_coroutine_threadsafe(
            asyncio.start_server(self._serve, LOOPBACK, 0, limit=_MOST_HEAD_BYTES), self._loop
        )
        self._port = starting.result().sockets[0].getsockname()[1]
        return self

    def __exit__(self, *_error: object) -> None:
        """Stop listening."""
        asyncio.run_coroutine_threadsafe(_cancel_others(), self._loop).result()
        self._loop.call_soon_threadsafe(self._loop.stop)
        self._thread.join()

    async def _serve(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        try:
            head = await reader.readuntil(_END_OF_HEAD)
            found = _SCOPE.search(head)
            region = found[1] if found is not None else b""
            port = self._ports.get(region, next(iter(self._ports.values())))
            to_reader, to_writer = await asyncio.open_connection(LOOPBACK, port)
            to_writer.write(_closing(head))
            sending = asyncio.create_task(_copy(reader, to_writer))
            answer = await to_reader.readuntil(_END_OF_HEAD)
            while answer.startswith(_INTERIM):
                writer.write(answer)
                answer = await to_reader.readuntil(_END_OF_HEAD)
            writer.write(_closing(answer))
            await _copy(to_reader, writer)
            sending.cancel()
            to_writer.close()
        except (asyncio.IncompleteReadError, ConnectionError):
            pass  # whoever asked has gone
        finally:
            writer.close()


def _closing(head: bytes) -> bytes:
    """Return a head that ends its connection: the next request may be for another region."""
    head = _CONNECTION.sub(b"", head).removesuffix(b"\r\n")
    return head + b"Connection: close" + _END_OF_HEAD


async def _cancel_others() -> None:
    others = asyncio.all_tasks() - {asyncio.current_task()}
    for task in others:
        task.cancel()
    await asyncio.gather(*others, return_exceptions=True)


async def _copy(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
    while data := await reader.read(64 * 1024):
        writer.write(data)
        await writer.drain()
