"""What on_init_complete.sh leaves on a node of a Slurm cluster."""

import json
import shutil
from collections.abc import Mapping
from pathlib import Path

import pytest
from syrupy.assertion import SnapshotAssertion

from tests.support.changed_node import ChangedNode, complaints
from tests.support.configs import REPOSITORY

KEY = "ssh-ed25519 AAAAC3 alice@laptop, of Alice"
SETTINGS = "OPEN_FILES=65536\nSHARED_DIRECTORIES=/home /fsx\n"


def slurm_node(directory: Path, *, shared: Path | None = None) -> ChangedNode:
    """Return a node whose AMI has set Slurm up, and whose file systems may be those of others."""
    node = ChangedNode(directory, scripts=REPOSITORY / "lifecycle" / "slurm")
    node.join_slurm("10.1.0.7", {"etc/skel/.profile": "umask 022\n"})
    if shared is not None:
        for path in ("home", "fsx"):
            (shared / path).mkdir(exist_ok=True)
            (node.root / path).symlink_to(shared / path)
        # Accounts of the nodes that share a file system are the same.
        (shared / "owners").touch()
        (directory / "state/owners").unlink()
        (directory / "state/owners").symlink_to(shared / "owners")
    node.mount("/home", "/fsx")
    node.configure(SETTINGS)
    return node


def run(node: ChangedNode) -> tuple[int, str]:
    """Run on_init_complete.sh; return its code and what it said, without times."""
    done = node.run("on_init_complete.sh")
    return done.code, "\n".join(line.partition(" ")[2] for line in done.output.splitlines())


@pytest.fixture
def node(tmp_path: Path) -> ChangedNode:
    return slurm_node(tmp_path / "node")


USERS = f"alice,2001,,{KEY}\nbob,2002,/fsx/bob,\n"


def test_users_get_ids_homes_and_keys_and_a_second_run_changes_nothing(node: ChangedNode) -> None:
    node.configure(SETTINGS, **{"users.csv": USERS})

    code, output = run(node)

    assert (code, output.splitlines()[-1]) == (0, "done: every step succeeded"), output
    assert node.read("etc/passwd").splitlines()[1:] == [
        "alice:x:2001:2001::/home/alice:/bin/bash",
        "bob:x:2002:2002::/fsx/bob:/bin/bash",
    ]
    assert node.read("etc/group").splitlines()[1:] == ["alice:x:2001:", "bob:x:2002:"]
    assert node.read("home/alice/.ssh/authorized_keys") == f"ssh-ed25519 alice\n{KEY}\n"
    assert node.read("fsx/bob/.ssh/authorized_keys") == "ssh-ed25519 bob\n"
    assert node.read("home/alice/.profile") == "umask 022\n"
    assert (node.root / "home/alice").stat().st_mode & 0o777 == 0o700
    assert (node.root / "home/alice/.ssh/id_ed25519").stat().st_mode & 0o077 == 0
    assert [path.name for path in (node.root / "home").iterdir()] == ["alice"]

    before = node.tree()
    code, output = run(node)
    assert (code, node.tree()) == (0, before)
    assert "wrote" not in output


def test_a_further_node_shares_homes_and_keys(tmp_path: Path) -> None:
    shared = tmp_path / "shared"
    shared.mkdir()
    nodes = [slurm_node(tmp_path / name, shared=shared) for name in ("a", "b")]
    for node in nodes:
        node.configure(SETTINGS, **{"users.csv": USERS})
        assert run(node)[0] == 0
        node.write("home/alice/.profile", "of Alice's own\n")

    assert nodes[0].read("etc/passwd") == nodes[1].read("etc/passwd")
    assert nodes[1].read("home/alice/.ssh/authorized_keys") == f"ssh-ed25519 alice\n{KEY}\n"
    assert run(nodes[1])[0] == 0
    assert nodes[1].read("home/alice/.profile") == "of Alice's own\n"


def test_what_a_user_has_made_of_their_home_keeps_no_node_away(
    node: ChangedNode, snapshot: SnapshotAssertion
) -> None:
    node.configure(SETTINGS, **{"users.csv": USERS})
    assert run(node)[0] == 0
    shutil.rmtree(node.root / "home/alice/.ssh")
    node.write("home/alice/.ssh", "")
    shutil.rmtree(node.root / "fsx/bob/.ssh")

    done = node.run("on_init_complete.sh")

    assert done.code == 0
    assert complaints(done.output) == snapshot
    assert node.read("fsx/bob/.ssh/authorized_keys") == "ssh-ed25519 bob\n"


FAILING: Mapping[str, Mapping[str, str]] = {
    "the ID of another user": {"etc/passwd": "dcgm:x:2001:99::/:\n"},
    "another ID": {"etc/passwd": "alice:x:1001:1001::/home/alice:\n"},
    "the ID of another group": {"etc/group": "docker:x:2001:\n"},
    "the home of somebody else": {"home/alice/notes": "of somebody else"},
    "no file system": {"../state/mounts": ""},
}


@pytest.mark.parametrize("files", FAILING.values(), ids=FAILING)
def test_what_fails_a_node(
    node: ChangedNode, files: Mapping[str, str], snapshot: SnapshotAssertion
) -> None:
    node.configure(SETTINGS, **{"users.csv": "alice,2001,,\n"})
    for path, text in files.items():
        node.write(path, text)

    done = node.run("on_init_complete.sh")

    assert done.code == 1
    assert complaints(done.output) == snapshot
    assert "useradd" not in node.read("../state/calls")
    assert not (node.root / "etc/motd").exists()


def test_homes_without_a_shared_file_system_are_warned_of(
    node: ChangedNode, snapshot: SnapshotAssertion
) -> None:
    node.configure("OPEN_FILES=1024\n", **{"users.csv": "alice,2001,,\n"})
    node.write("../state/mounts", "")

    done = node.run("on_init_complete.sh")

    assert done.code == 0
    assert complaints(done.output) == snapshot
    assert "alice:x:2001:2001::/home/alice:/bin/bash" in node.read("etc/passwd")


def _knows(node: ChangedNode, *, controller: str = "head", login: str | None = "door") -> None:
    groups = {"head": "10.1.0.5", "door": "10.1.0.6", "gpus": "10.1.0.7", "more": "10.1.0.8"}
    instances = [
        {"Name": name, "Instances": [{"CustomerIpAddress": address}]}
        for name, address in groups.items()
    ]
    node.write(
        "opt/ml/config/resource_config.json",
        json.dumps({"InstanceGroups": [{"Name": "none", "Instances": None}, *instances]}),
    )
    workers = [{"instance_group_name": "gpus", "partition_name": "gpu"}]
    parameters = {"controller_group": controller, "login_group": login, "worker_groups": workers}
    node.write("opt/ml/config/provisioning_parameters.json", json.dumps(parameters))


@pytest.mark.parametrize("address", ["10.1.0.5", "10.1.0.6", "10.1.0.7", "10.1.0.8"])
def test_the_message_says_what_the_node_is(
    node: ChangedNode, address: str, snapshot: SnapshotAssertion
) -> None:
    _knows(node)
    node.write("../state/addresses", f"172.17.0.1 {address}\n")

    assert run(node)[0] == 0

    assert node.read("etc/motd") == snapshot


def test_a_message_of_the_users_own_is_shown_instead(node: ChangedNode) -> None:
    node.configure(SETTINGS, **{"motd.txt": "Welcome, `$USER`\n"})

    assert run(node)[0] == 0

    assert node.read("etc/motd") == "Welcome, `$USER`\n"


def test_a_node_that_does_not_know_what_it_is_keeps_its_message(node: ChangedNode) -> None:
    _knows(node)
    node.write("../state/addresses", "10.9.9.9\n")

    code, output = run(node)

    assert code == 0
    assert "[motd] WARNING" in output
    assert not (node.root / "etc/motd").exists()


def test_limits_are_those_that_are_configured(node: ChangedNode) -> None:
    assert run(node)[0] == 0
    limits = node.read("etc/security/limits.d/90-hyperpod.conf")
    assert limits == "* - memlock unlimited\n* - nofile 65536\n"


@pytest.mark.parametrize("setup", ["", SETTINGS])
def test_own_scripts_run_last_or_alone(node: ChangedNode, setup: str) -> None:
    own = "#!/bin/sh\ncat ../deployment.env | wc -l\nexit 9\n"
    node.configure(f"{setup}OWN_SCRIPTS=after\n", **{"own/on_create.sh": own})

    code, output = run(node)

    assert code == 9
    assert "ERROR step own/on_create.sh" in output
    assert (node.root / "etc/security").exists() is bool(setup)
    # Of anyone who can write to the bucket.
    node.configure(setup)
    assert run(node)[0] == 0
