"""A certificate authority and a server's certificate, as EKS makes them.

The server's certificate has no authority key identifier, which Python's strict verification, the
default since Python 3.13, refuses: https://github.com/kubernetes-client/python/issues/2394.
"""

import ssl
import tempfile
from collections.abc import Sequence
from datetime import UTC, datetime, timedelta
from ipaddress import ip_address
from pathlib import Path

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
