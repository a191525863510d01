"""What ShellCheck, where it is installed, says of scripts that nodes will run."""

import shutil
import subprocess
from collections.abc import Iterator
from pathlib import Path

from hyperpod_cdk import Config
from hyperpod_cdk.lifecycle_scripts.own_scripts import script_keys

_LINTER = "shellcheck"
_OPTIONS = ("--format=gcc", "--severity=warning", "--external-sources", "--source-path=SCRIPTDIR")


def shell_findings(config: Config) -> Iterator[str]:
    """Yield a line for each finding in a folder of one's own; none without ShellCheck."""
    linter = shutil.which(_LINTER)
    own = (config.lifecycle_scripts, *config.cluster.own_scripts)
    folders = dict.fromkeys(each.directory for each in own if each.directory is not None)
    if linter is None:
        return
    for folder in folders:
        scripts = [str(Path(folder, key)) for key in script_keys(Path(folder)) if _is_shell(key)]
        done = subprocess.run(  # noqa: S603 - an argument list, no shell
            [linter, *_OPTIONS, *scripts], capture_output=True, text=True, check=False
        )
        yield from (done.stdout + done.stderr).splitlines()


def _is_shell(key: str) -> bool:
    return key.endswith((".sh", ".bash"))
