"""Policies of what is made, as JSON."""

from __future__ import annotations

import json
from collections.abc import Mapping


def policy(*statements: Mapping[str, object]) -> str:
    """Return a policy of statements."""
    return json.dumps({"Version": "2012-10-17", "Statement": statements})


def trust(*services: str) -> str:
    """Return the trust policy of a role that services assume."""
    return policy(
        {"Effect": "Allow", "Principal": {"Service": services}, "Action": "sts:AssumeRole"}
    )
