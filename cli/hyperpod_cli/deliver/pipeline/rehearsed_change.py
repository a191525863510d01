"""What the review of an environment says of its change, rehearsed on what is deployed there."""

import json
import os
import subprocess
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import boto3

from hyperpod_cli.aws.cdk_cli import MODULE

# A build ends after 30 minutes, and what is not said by then no one reads.
_MINUTES = 15
_MOST_LETTERS = 200
_VERDICTS = {
    0: "nothing would be lost",
    1: "IT WOULD FAIL",
    4: "DATA OR RUNNING PODS WOULD BE LOST",
}


@dataclass(frozen=True, kw_only=True, slots=True)
class RehearsedChange:
    """A rehearsal, or why there is none: a sentence for the approver, and all that it said."""

    sentence: str
    text: str = ""


NOTHING_DEPLOYED = RehearsedChange(sentence="Not rehearsed: nothing is deployed yet.")
"""Of an environment without stacks."""


def rehearse_change(
    config_path: Path, *, assembly: Path, session: boto3.Session
) -> RehearsedChange:
    """Rehearse a change with the command that people run; whatever becomes of it is told.

    It stops no deployment: an approver reads it.
    """
    command = [*MODULE, "hyperpod_cli", "rehearse-change", "--json"]
    command += ["--config", str(config_path), "--assembly", str(assembly)]
    try:
        done = subprocess.run(  # noqa: S603 - our own command
            command,
            env=_environment(session),
            capture_output=True,
            text=True,
            timeout=_MINUTES * 60,
            check=False,
        )
    except subprocess.TimeoutExpired:
        return _untold(f"it took more than {_MINUTES} minutes")
    if done.returncode not in _VERDICTS:
        return _untold(done.stderr)
    try:
        found = json.loads(done.stdout)
    except ValueError:
        return _untold(done.stderr)
    return RehearsedChange(
        sentence=f"Rehearsed: {'; '.join(_parts(found))}.", text=f"{found['text']}\n"
    )


def _environment(session: boto3.Session) -> dict[str, str]:
    credentials = session.get_credentials()
    assert credentials is not None  # noqa: S101 - it is of a role that was assumed
    key = credentials.get_frozen_credentials()
    return {
        **{name: value for name, value in os.environ.items() if name != "AWS_PROFILE"},
        "AWS_ACCESS_KEY_ID": str(key.access_key),
        "AWS_SECRET_ACCESS_KEY": str(key.secret_key),
        "AWS_SESSION_TOKEN": str(key.token),
        "AWS_REGION": session.region_name,
        "AWS_DEFAULT_REGION": session.region_name,
    }


def _untold(why: str) -> RehearsedChange:
    lines = why.strip().splitlines() or ["it ended without a word"]
    short = " ".join(lines[-1].split())[:_MOST_LETTERS].rstrip(".")
    return RehearsedChange(sentence=f"COULD NOT BE REHEARSED: {short}.", text=f"{why}\n")


def _parts(found: Mapping[str, Any]) -> Iterator[str]:
    """Yield what an approver must know, in less than what an approval shows."""
    yield _VERDICTS[found["code"]]
    ends = sum(each["ends"] for each in found["nodes"])
    pods = {pod for each in found["nodes"] for node in each["of"] for pod in node["pods"]}
    if ends:
        runs = f", of groups on which {len(pods)} pods run" if pods else ""
        yield f"{ends} nodes end{runs}"
    if found["minutes"] is not None:
        yield f"{found['minutes']} minutes at the most"
    stuck = sorted(
        f"{stack} in {status}"
        for stack, status in ((found["rollback"] or {}).get("statuses") or {}).items()
        if status.endswith("FAILED")
    )
    if stuck:
        yield f"a failure would leave {', '.join(stuck)}"
    if notes := len(found["notes"]):
        yield f"{notes} notes on what it could not see"
