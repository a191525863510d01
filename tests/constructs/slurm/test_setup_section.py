"""The file of the users of a Slurm cluster, and what is refused of it."""

from pathlib import Path

import pytest

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
    ("text", "message"),
    [
        ("# nobody\n", "has no user; give it a line `name,uid`"),
        ("alice\n", "has in line 1 uid ''; must be a number from 2000 to 60000"),
        ("alice,1999\n", "has in line 1 uid '1999'; must be a number from 2000 to 60000"),
        ("alice,60001\n", "has in line 1 uid '60001'; must be a number"),
        ("alice,02001\n", "has in line 1 uid '02001'; must be a number"),
        ("alice,२००१\n", "has in line 1 uid '२००१'; must be a number"),
        ("Alice,2001\n", "has in line 1 name 'Alice'; must be 1 to 32 of a-z, 0-9, _ and -"),
        ("slurm,2001\n", "has in line 1 name 'slurm'; .* no account of the AMI's"),
        ("a$(id),2001\n", r"has in line 1 name 'a\$\(id\)'; must be"),
        ("alice,2001,fsx/alice\n", "has in line 1 home 'fsx/alice'; must be a path such as"),
        ("alice,2001,/fsx/../etc\n", r"has in line 1 home '/fsx/\.\./etc'; must be"),
        ("alice,2001,/etc\n", "has in line 1 home '/etc'; must be"),
        ("alice,2001,,-----BEGIN OPENSSH PRIVATE KEY-----\n", "a fourth field that is no SSH pub"),
        ("\nalice,2001\nalice,2002\n", "has in line 3 the name of line 2, 'alice'; each needs"),
        ("alice,2001\nbob,2001\n", "has in line 2 the uid of line 1, '2001'; each needs one"),
        ("a,2001,/fsx/a\nb,2002,/fsx/a\n", "has in line 2 the home of line 1, '/fsx/a'"),
        ("".join(f"u{uid},{uid}\n" for uid in range(2000, 2501)), "has 501 users in .* than 500"),
        (f"alice,2001,,ssh-rsa {'A' * 65_536}\n", "has 1 users in 65,.* more than 500 or 65,536"),
        (b"alice,2001\xff\n", "cannot be read: .* codec can't decode"),
    ],
)
def test_what_is_refused(tmp_path: Path, text: str | bytes, message: str) -> None:
    path = tmp_path / "users.csv"
    path.write_bytes(text if isinstance(text, bytes) else text.encode())

    with pytest.raises(
        ConfigError, match=rf"^SlurmSetupConfig\.users: '.*/users\.csv' .*{message}"
    ):
        SlurmSetupConfig(users=str(path))


def test_a_file_that_is_not_there_and_other_values(tmp_path: Path) -> None:
    with pytest.raises(ConfigError) as refused:
        SlurmSetupConfig(users=str(tmp_path), motd="a\x1b[31m", open_files=0)

    assert [line.partition(": ")[0] for line in refused.value.lines] == [
        "SlurmSetupConfig.users",
        "SlurmSetupConfig.motd",
        "SlurmSetupConfig.open_files",
    ]
