"""What nodes of a Slurm cluster get after the AMI's own set-up: users, message, limits."""

import re
from collections.abc import Iterator
from pathlib import Path
from typing import Annotated, NamedTuple

from pydantic import Field, ValidationInfo, field_validator

from hyperpod_cdk.schema.errors import Finding, refuse
from hyperpod_cdk.schema.given_file import given_text
from hyperpod_cdk.schema.limits import Message
from hyperpod_cdk.schema.section import Section

# useradd's: https://man7.org/linux/man-pages/man8/useradd.8.html
_NAME = re.compile(r"[a-z_][a-z0-9_-]{0,31}")
# Users and groups of Debian's base-passwd, of packages of Ubuntu's cloud images, and of the AMI: a
# node has them, or would give a user what is the system's.
# https://salsa.debian.org/debian/base-passwd/-/tree/master
_SYSTEMS = (
    "_apt adm audio backup bin cdrom daemon dialout dip disk fax floppy games irc kmem list lp mail"
    " man news nobody nogroup operator plugdev proxy root sasl shadow src staff sudo sync sys tape"
    " tty users utmp uucp video voice www-data"
    " _chrony _ssh crontab input kvm landscape lxd messagebus netdev ntp pollinate polkitd rdma"
    " render rpc sgx ssh sshd statd syslog tcpdump tss uuidd wheel"
    " admin dcgm docker ec2-user munge mysql nvidia-persistenced slurm ssm-user ubuntu"
)
_SYSTEMD = "systemd-"
_ID = re.compile(r"[1-9][0-9]*", re.ASCII)
# Below are the system's accounts and the AMI's `ubuntu`; useradd gives none above.
_LEAST_ID, _MOST_ID = 2_000, 60_000
_HOME = re.compile(r"(/(?!\.\.?(/|$))[A-Za-z0-9_.-]+){2,}")
# https://man7.org/linux/man-pages/man8/sshd.8.html, AUTHORIZED_KEYS FILE FORMAT, without options
_PUBLIC_KEY = re.compile(r"(sk-)?(ssh|ecdsa)-[a-z0-9@.-]+ [A-Za-z0-9+/]+=* ?[^\x00-\x1f]*")

# The text of the file is in the template, and in an event of the provisioner.
_MOST_USERS, _MOST_BYTES = 500, 64 * 1024


class SlurmUser(NamedTuple):
    """A line of the users' file: a user and a group of one name and one ID.

    The home directory is empty for one on the shared file system, the SSH key for none.
    """

    name: str
    uid: str
    home: str = ""
    public_key: str = ""


class SlurmSetupConfig(Section):
    """What every node gets after the AMI has set up Slurm."""

    users: Annotated[str | None, Field(examples=["slurm-users/users.csv"])] = None
    """File with a line `name,uid[,home[,SSH public key]]` for each user, at most 500; relative to
    the folder of the configuration file. Each has the same ID, 2000 to 60000, on every node, and a
    home on the shared file system: /home/<name> on home_directories, else /fsx/<name> on Lustre.
    Running nodes do not get users that are added later: replace the nodes, or update their
    software. Default: none but the AMI's."""

    motd: Annotated[
        str | None,
        Field(pattern=r"^[^\x00-\x08\x0b-\x1f]*$", max_length=4_096),
        Message("must be text of at most 4,096 characters without control characters"),
        Field(examples=["Welcome to the cluster"]),
    ] = None
    """Message that users see when they log in to a node. Default: what the node is, and how to
    submit a job."""

    open_files: Annotated[int, Field(ge=1_024, le=1_048_576), Field(examples=[65_536])] = 1_048_576
    """How many files a process of a user may have open; locked memory, which EFA and NCCL use, is
    unlimited. A job has the limits that it is submitted with. Default: 1048576, the kernel's own
    limit."""

    @field_validator("users")
    @classmethod
    def _find_users(cls, value: str | None, info: ValidationInfo) -> str | None:
        if value is None:
            return None
        path = (Path((info.context or {}).get("folder", "")) / value).absolute()
        if not path.is_file():
            raise ValueError(f"must be a file with a line for each user; {str(path)!r} is none")
        refuse(Finding(value=value, message=message) for message in _problems(path))
        return str(path)

    @property
    def user_lines(self) -> list[SlurmUser]:
        """The users, as their file has them."""
        return [] if self.users is None else [user for _, user in _users(Path(self.users))]


def _users(path: Path) -> Iterator[tuple[int, SlurmUser]]:
    """Yield the number of each line that is neither empty nor a comment, and its user."""
    for number, line in enumerate(given_text(path).splitlines(), start=1):
        if line.strip() and not line.lstrip().startswith("#"):
            cells = [cell.strip() for cell in line.split(",", 3)]
            yield number, SlurmUser(*cells, *[""] * (2 - len(cells)))


def _problems(path: Path) -> Iterator[str]:
    try:
        users = list(_users(path))
    except (OSError, UnicodeDecodeError) as reason:
        yield f"cannot be read: {reason}"
        return
    if not users:
        yield "has no user; give it a line `name,uid`, such as alice,2001"
    size = sum(len(",".join(user)) + 1 for _, user in users)
    if len(users) > _MOST_USERS or size > _MOST_BYTES:
        yield (
            f"has {len(users):,} users in {size:,} bytes, more than {_MOST_USERS:,} or "
            f"{_MOST_BYTES:,}; let nodes take users from a directory service"
        )
        return
    seen: dict[tuple[str, str], int] = {}
    for number, user in users:
        for message in _faults(user):
            yield f"has in line {number} {message}"
        for field in ("name", "uid", "home"):
            text = getattr(user, field)
            first = seen.setdefault((field, text), number)
            if text and first != number:
                yield f"has in line {number} the {field} of line {first}, {text!r}; each needs one"


def _faults(user: SlurmUser) -> Iterator[str]:
    if _NAME.fullmatch(user.name) is None:
        yield (
            f"name {user.name!r}; must be 1 to 32 of a-z, 0-9, _ and -, beginning with a letter "
            "or _"
        )
    if user.name in _SYSTEMS.split() or user.name.startswith(_SYSTEMD):
        yield f"name {user.name!r}, a user or group of the system's; choose another"
    if _ID.fullmatch(user.uid) is None or not _LEAST_ID <= int(user.uid) <= _MOST_ID:
        yield f"uid {user.uid!r}; must be a number from {_LEAST_ID} to {_MOST_ID}"
    if user.home and _HOME.fullmatch(user.home) is None:
        yield f"home {user.home!r}; must be a path such as /fsx/{user.name}"
    if user.public_key and _PUBLIC_KEY.fullmatch(user.public_key) is None:
        yield (
            "a fourth field that is no SSH public key; copy the one line of a file such as "
            "~/.ssh/id_ed25519.pub"
        )
