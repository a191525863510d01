"""The file of the users of a Slurm cluster, and what is refused of it."""

from pathlib import Path

import pytest
from syrupy.assertion import SnapshotAssertion

from hyperpod_cdk import ConfigError
from hyperpod_cdk.slurm.setup_section import SlurmSetupConfig, SlurmUser

KEY = "ssh-ed25519 AAAAC3NzaC1lZDI1NTE5AAAAI= alice@laptop, of Alice"


@pytest.mark.parametrize(
    ("text", "users"),
    [
        ("alice,2001\n", [SlurmUser("alice", "2001")]),
        ("# names\r\n\r\n a_b-1 , 60000 \r\n", [SlurmUser("a_b-1", "60000")]),
        ("alice,2001,/fsx/alice", [SlurmUser("alice", "2001", "/fsx/alice")]),
        (f"alice,2000,,{KEY}\n", [SlurmUser("alice", "2000", "", KEY)]),
    ],
)
def test_users(tmp_path: Path, text: str, users: list[SlurmUser]) -> None:
    (tmp_path / "users.csv").write_bytes(text.encode())

    assert SlurmSetupConfig(users=str(tmp_path / "users.csv")).user_lines == users


@pytest.mark.parametrize(
    "text",
    [
        "# nobody\n",
        "alice\n",
        "alice,1999\n",
        "alice,60001\n",
        "alice,02001\n",
        "alice,२००१\n",
        "Alice,2001\n",
        *(f"{name},2001\n" for name in ("slurm", "docker", "sudo", "shadow", "nobody", "ssm-user")),
        "systemd-network,2001\n",
        "a$(id),2001\n",
        "alice,2001,fsx/alice\n",
        "alice,2001,/fsx/../etc\n",
        "alice,2001,/etc\n",
        "alice,2001,,-----BEGIN OPENSSH PRIVATE KEY-----\n",
        "\nalice,2001\nalice,2002\n",
        "alice,2001\nbob,2001\n",
        "a,2001,/fsx/a\nb,2002,/fsx/a\n",
        "".join(f"u{uid},{uid}\n" for uid in range(2000, 2501)),
        f"alice,2001,,ssh-rsa {'A' * 65_536}\n",
        b"alice,2001\xff\n",
    ],
)
def test_what_is_refused(
    tmp_path: Path, text: str | bytes, snapshot: SnapshotAssertion, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    Path("users.csv").write_bytes(text if isinstance(text, bytes) else text.encode())

    with pytest.raises(ConfigError, match=r"^SlurmSetupConfig\.users: ") as refused:
        SlurmSetupConfig(users="users.csv")

    assert refused.value.lines == snapshot


def test_a_file_that_is_not_there_and_other_values(tmp_path: Path) -> None:
    with pytest.raises(ConfigError) as refused:
        SlurmSetupConfig(users=str(tmp_path), motd="a\x1b[31m", open_files=0)

    assert [line.partition(": ")[0] for line in refused.value.lines] == [
        "SlurmSetupConfig.users",
        "SlurmSetupConfig.motd",
        "SlurmSetupConfig.open_files",
    ]
