"""Identifiers in AWS's forms, derived from what they name: no randomness."""

from __future__ import annotations

import hashlib
import string
import uuid

CLUSTER_ID_LENGTH = 12
INSTANCE_ID_DIGITS = 17
IMAGE_ID_DIGITS = 17
_ALPHABET = string.ascii_lowercase + string.digits


def _digest(*parts: object) -> bytes:
    return hashlib.sha256("\0".join(str(part) for part in parts).encode()).digest()


def cluster_id(*, account: str, region: str, name: str, ordinal: int) -> str:
    """Return the 12 characters that end a cluster's ARN."""
    digest = _digest("cluster", account, region, name, ordinal)
    return "".join(_ALPHABET[byte % len(_ALPHABET)] for byte in digest[:CLUSTER_ID_LENGTH])


def instance_id(*parts: object) -> str:
    """Return an EC2 instance id."""
    return "i-" + _digest("instance", *parts).hex()[:INSTANCE_ID_DIGITS]


def image_id(*, region: str, release_version: str) -> str:
    """Return the id of the HyperPod AMI of a release in a Region."""
    return "ami-" + _digest("image", region, release_version).hex()[:IMAGE_ID_DIGITS]


def unique_id(*parts: object) -> str:
    """Return a UUID."""
    return str(uuid.UUID(bytes=_digest("uuid", *parts)[:16], version=4))
