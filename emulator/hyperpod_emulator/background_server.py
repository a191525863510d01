"""A server in a thread; over TLS with a certificate authority of its own, as EKS has one.

It listens on the loopback interface, which pages in a browser reach as well: no page gets an
answer, neither by its origin nor by a name of its own that leads here.

The server's certificate has no authority key identifier, which Python's strict verification, the
default since Python 3.13, refuses: https://github.com/kubernetes-client/python/issues/2394.
"""

import asyncio
import ssl
import tempfile
import threading
from collections.abc import Callable, Sequence
from contextlib import suppress
from datetime import UTC, datetime, timedelta
from ipaddress import ip_address
from pathlib import Path
from typing import Self

from aiohttp import web
from aiohttp.typedefs import Handler
from cryptography import x509
from cryptography.hazmat.primitives import hashes, serialization
from cryptography.hazmat.primitives.asymmetric import ec
from cryptography.x509.oid import NameOID

_VALID = timedelta(days=2)


def server_context(*, hosts: Sequence[str], addresses: Sequence[str]) -> tuple[ssl.SSLContext, str]:
    """Return what a server needs to be these hosts, and the PEM of the authority to trust."""
    authority_key, server_key = (ec.generate_private_key(ec.SECP256R1()) for _ in range(2))
    named = x509.Name([x509.NameAttribute(NameOID.COMMON_NAME, "kubernetes")])
    authority = (
        _certificate(subject=named, issuer=named, key=authority_key)
        .add_extension(x509.BasicConstraints(ca=True, path_length=None), critical=True)
        .add_extension(_SIGNS, critical=True)
        .add_extension(
            x509.SubjectKeyIdentifier.from_public_key(authority_key.public_key()), critical=False
        )
        .sign(authority_key, hashes.SHA256())
    )
    names = [*map(x509.DNSName, hosts), *(x509.IPAddress(ip_address(each)) for each in addresses)]
    subject = x509.Name([x509.NameAttribute(NameOID.COMMON_NAME, "kube-apiserver")])
    server = (
        _certificate(subject=subject, issuer=named, key=server_key)
        .add_extension(x509.SubjectAlternativeName(names), critical=False)
        .sign(authority_key, hashes.SHA256())
    )
    context = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
    with tempfile.TemporaryDirectory() as folder:
        chain = Path(folder, "server.pem")
        chain.touch(mode=0o600)
        chain.write_bytes(
            server_key.private_bytes(
                serialization.Encoding.PEM,
                serialization.PrivateFormat.PKCS8,
                serialization.NoEncryption(),
            )
            + server.public_bytes(serialization.Encoding.PEM)
        )
        context.load_cert_chain(chain)
    return context, authority.public_bytes(serialization.Encoding.PEM).decode()


_SIGNS = x509.KeyUsage(
    digital_signature=True,
    key_encipherment=True,
    key_cert_sign=True,
    content_commitment=False,
    data_encipherment=False,
    key_agreement=False,
    crl_sign=False,
    encipher_only=False,
    decipher_only=False,
)


def _certificate(
    *, subject: x509.Name, issuer: x509.Name, key: ec.EllipticCurvePrivateKey
) -> x509.CertificateBuilder:
    now = datetime.now(tz=UTC)
    return (
        x509.CertificateBuilder()
        .subject_name(subject)
        .issuer_name(issuer)
        .public_key(key.public_key())
        .serial_number(x509.random_serial_number())
        .not_valid_before(now - timedelta(hours=1))
        .not_valid_after(now + _VALID)
    )


_NAMES = ("127.0.0.1", "localhost")


@web.middleware
async def refuse_pages(request: web.Request, handler: Handler) -> web.StreamResponse:
    """Answer what no page has sent."""
    if "Origin" in request.headers or request.host.partition(":")[0] not in _NAMES:
        raise web.HTTPForbidden
    return await handler(request)


_START_SECONDS = 300.0
_STOP_SECONDS = 300.0
HOST = "127.0.0.1"


class BackgroundServer:
    """A server on a free port of the loopback address, which is 0 before the first start.

    It takes the same port again when it starts anew. Use it as a context manager, or call `start`
    and `stop`.
    """

    def __init__(
        self,
        *,
        application: Callable[[], web.Application],
        name: str,
        context: ssl.SSLContext | None = None,
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
        """Start and wait until it listens; RuntimeError if it does not, or runs already."""
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

    def end(self) -> None:
        """Begin to stop, on the server's own thread."""
        self._stop.set()

    def stop(self) -> None:
        """Stop, ending open connections; harmless when it does not run."""
        if self._thread is None or self._loop is None:
            return
        # The server may have ended by itself.
        with suppress(RuntimeError):
            self._loop.call_soon_threadsafe(self.end)
        self._thread.join(_STOP_SECONDS)
        self._thread = None

    def __enter__(self) -> Self:
        self.start()
        return self

    def __exit__(self, *_error: object) -> None:
        self.stop()

    def _run(self) -> None:
        asyncio.run(self._serve())

    async def _serve(self) -> None:
        self._loop = asyncio.get_running_loop()
        application = self._application()
        application.middlewares.append(refuse_pages)
        runner = web.AppRunner(
            application, access_log=None, handler_cancellation=True, shutdown_timeout=0.1
        )
        await runner.setup()
        try:
            site = web.TCPSite(runner, HOST, self.port, ssl_context=self._context)
            await site.start()
            self.port = runner.addresses[0][1]
        except OSError as error:
            self._failure = error
        self._started.set()
        if self._failure is None:
            await self._stop.wait()
        await runner.cleanup()
