"""What Slurm users put where root's script looks: it must not hang, fill a disk or fail a node.

Homes are on a shared file system, so that each new or replaced node meets them.
"""

import os
import shutil
from collections.abc import Callable
from pathlib import Path

import pytest

from tests.support.changed_node import ChangedNode
from tests.support.configs import REPOSITORY

KEY = "ssh-ed25519 AAAAC3 alice@laptop"
OWN = "ssh-rsa AAAAB3 of Alice's own"


def _endless(path: Path) -> None:
    with path.open("wb") as file:
        file.truncate(1 << 40)


def _folder(path: Path) -> None:
    path.mkdir()


KINDS: dict[str, Callable[[Path], None]] = {
    "pipe": os.mkfifo,
    "link to a device": lambda path: path.symlink_to("/dev/zero"),
    "link to a file": lambda path: path.symlink_to("/etc/passwd"),
    "link to nothing": lambda path: path.symlink_to("nowhere"),
    "endless file": _endless,
    "folder": _folder,
}
PLACES = (".ssh", ".ssh/id_ed25519", ".ssh/authorized_keys")


@pytest.fixture
def node(tmp_path: Path) -> ChangedNode:
    """Return a node with the homes of two users, whom another node has made."""
    made = ChangedNode(tmp_path, scripts=REPOSITORY / "lifecycle" / "slurm")
    made.join_slurm("10.1.0.7", {"etc/skel/.profile": "umask 022\n"})
    made.mount("/home")
    users = f"alice,2001,,{KEY}\nbob,2002,,\n"
    made.configure("OPEN_FILES=65536\nSHARED_DIRECTORIES=/home\n", **{"users.csv": users})
    assert made.run("on_init_complete.sh").code == 0
    return made


@pytest.mark.parametrize("place", PLACES)
@pytest.mark.parametrize("kind", KINDS)
def test_the_node_gets_ready_and_reads_none_of_it(node: ChangedNode, kind: str, place: str) -> None:
    attacked = node.root / "home/alice" / place
    if attacked.is_dir():
        shutil.rmtree(attacked)
    else:
        attacked.unlink()
    KINDS[kind](attacked)
    shutil.rmtree(node.root / "home/bob/.ssh")

    done = node.run("on_init_complete.sh")

    assert done.code == 0, done.output
    if (kind, place) != ("folder", ".ssh"):
        assert "WARNING alice has no new SSH keys" in done.output
    assert "root:" not in done.output
    assert node.read("home/bob/.ssh/authorized_keys") == "ssh-ed25519 bob\n"
    left = [path for path in (node.root / "home/alice").rglob("*") if path != attacked]
    assert all(path.stat().st_size < 1 << 20 for path in left if path.is_file())


def test_what_hangs_all_the_same_is_ended(node: ChangedNode) -> None:
    node.replace_command("ssh-keygen", text="trap '' TERM; while :; do sleep 1; done")

    done = node.run("on_init_complete.sh", HYPERPOD_USER_SECONDS="1")

    assert done.code == 0, done.output
    assert "could not be read and written as alice within 1 s" in done.output


def test_keys_of_a_users_own_stay(node: ChangedNode) -> None:
    node.write("home/alice/.ssh/authorized_keys", f"{OWN}\n")

    assert node.run("on_init_complete.sh").code == 0

    lines = node.read("home/alice/.ssh/authorized_keys").splitlines()
    assert lines == [OWN, "ssh-ed25519 alice", KEY]
