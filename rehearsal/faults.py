"""What can be made to fail while a rehearsal is kept: `python -m rehearsal.faults NAME`."""

from __future__ import annotations

import argparse
import json
import os
import sys
import urllib.request
from collections.abc import Collection, Mapping
from pathlib import Path
from urllib.error import URLError

from hyperpod_cdk import ConfigError, load_config
from hyperpod_cdk.schema.limits import nearest
from hyperpod_cli.terminal.errors import REFUSED
from hyperpod_cli.terminal.options import DEFAULT_CONFIG

FAULTS_VARIABLE = "REHEARSAL_HYPERPOD_API"
"""Where the HyperPod API of a rehearsal that is kept listens, in its shell."""
NONE = "none"
DEEP_HEALTH_CHECK = "deep-health-check-fails"
FAULTS: Mapping[str, str] = {
    "capacity-shortage": "capacity_shortage",
    "lifecycle-script-fails": "lifecycle_script_failure",
    DEEP_HEALTH_CHECK: "deep_health_check_failure",
}
"""The faults, and the attribute of `emulator.hyperpod.Faults` with the groups of each."""
_SECONDS = 60


class FaultError(Exception):
    """The fault cannot be caused; one line that says what to do."""


def cause(
    name: str,
    *,
    group: str,
    groups: Collection[str],
    checked: Collection[str],
    api: str | None,
) -> None:
    """Let something fail from now on, and nothing else; `none` ends it.

    Args:
        name: One of `FAULTS`, or `none`.
        group: Instance group whose nodes fail.
        groups: Names of the groups that there are, or are going to be.
        checked: Names of those with deep health checks.
        api: Where the HyperPod API listens; None outside the shell of a kept rehearsal.

    Raises:
        FaultError: There is no such fault or group, the fault cannot happen to it, or no rehearsal
            is kept.
    """
    known = (*FAULTS, NONE)
    if name not in known:
        close = nearest(name, known=known)
        raise FaultError(f"FAULT: {name!r} is not a fault{close} (faults: {', '.join(known)})")
    if name != NONE and not group:
        raise FaultError(f"GROUP: is missing; name the instance group whose nodes fail: {name}")
    if name != NONE and group not in groups:
        close = nearest(group, known=groups)
        raise FaultError(
            f"GROUP: {group!r} is not a group of the configuration{close} (groups: "
            f"{', '.join(groups)})"
        )
    if name == DEEP_HEALTH_CHECK and group not in checked:
        raise FaultError(
            f"GROUP: {group!r} has no deep_health_checks that could fail (groups with them: "
            f"{', '.join(checked) or 'none'})"
        )
    if api is None:
        raise FaultError(
            f"{FAULTS_VARIABLE}: is not set; start `make rehearse KEEP=1`, and source the file "
            "that it names in this shell"
        )
    body = json.dumps({} if name == NONE else {FAULTS[name]: [group]}).encode()
    # The address is the rehearsal's own, on the loopback interface.
    request = urllib.request.Request(f"{api}/faults", data=body, method="PUT")  # noqa: S310
    try:
        with urllib.request.urlopen(request, timeout=_SECONDS):  # noqa: S310
            return
    except URLError as error:
        raise FaultError(
            f"{FAULTS_VARIABLE}: nothing listens at {api} ({error.reason}); the rehearsal has ended"
        ) from error


def main() -> int:
    """Run the command line; return 2 for a fault that cannot be caused."""
    parser = argparse.ArgumentParser(prog="python -m rehearsal.faults")
    parser.add_argument("name", metavar="NAME", help=", ".join((*FAULTS, NONE)))
    parser.add_argument("--group", default="", help="instance group whose nodes fail")
    parser.add_argument("--config", type=Path, default=DEFAULT_CONFIG)
    arguments = parser.parse_args()
    try:
        config = load_config(arguments.config)
        cause(
            arguments.name,
            group=arguments.group,
            groups=[group.name for group in config.cluster.all_groups],
            checked=[group.name for group in config.cluster.all_groups if group.deep_health_checks],
            api=os.environ.get(FAULTS_VARIABLE),
        )
    except (ConfigError, FaultError) as error:
        print(error, file=sys.stderr)
        return REFUSED
    if arguments.name == NONE:
        print("Nothing fails any more.")
    else:
        print(f"{arguments.name}: group {arguments.group}, until FAULT={NONE}")
    return 0


if __name__ == "__main__":
    sys.exit(main())
