"""What ShellCheck, where it is installed, says of scripts that nodes will run."""

import shutil
import subprocess
from collections.abc import Iterator
from pathlib import Path

from hyperpod_cdk import Config
from hyperpod_cdk.lifecycle_scripts.section import script_keys

_LINTER = "shellcheck"
_OPTIONS = ("--format=gcc", "--severity=warning", "--external-sources", "--source-path=SCRIPTDIR")


def shell_findings(config: Config) -> Iterator[str]:
    """Yield a line for each finding in the user's scripts; none without ShellCheck."""
    linter = shutil.which(_LINTER)
    own = (config.lifecycle_scripts, *config.cluster.own_scripts)
    folders = dict.fromkeys(each.directory for each in own if each.directory is not None)
    listed = [
        [str(Path(folder, key)) for key in script_keys(Path(folder)) if _is_shell(key)]
        for folder in folders
    ]
    check = config.node_health.script if config.node_health is not None else None
    if check is not None and _is_shell(check):
        listed.append([check])
    if linter is None:
        return
    for scripts in listed:
        done = subprocess.run(  # noqa: S603 - an argument list, no shell
            [linter, *_OPTIONS, *scripts], capture_output=True, text=True, check=False
        )
        yield from (done.stdout + done.stderr).splitlines()


def _is_shell(key: str) -> bool:
    return key.endswith((".sh", ".bash"))
