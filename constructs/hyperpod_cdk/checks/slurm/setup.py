"""Whether nodes can do what their setup says."""

from collections.abc import Iterable, Iterator, Sequence
from pathlib import PurePosixPath

from hyperpod_cdk.config.config import Config
from hyperpod_cdk.config.slurm_scripts import shared_directories
from hyperpod_cdk.schema.errors import Findings, error, warning
from hyperpod_cdk.slurm.setup_section import SlurmUser
from hyperpod_cdk.storage.lustre_section import LustreConfig
from hyperpod_cdk.storage.section import HomeDirectoriesConfig

_SETUP = ("cluster", "slurm", "setup")


def setup(config: Config) -> Findings:
    """Find a setup that no node runs, and users whose homes cannot be made, or are not shared.

    https://docs.aws.amazon.com/sagemaker/latest/APIReference/API_ClusterLifeCycleConfig.html
    https://docs.aws.amazon.com/fsx/latest/OpenZFSGuide/root-squashing.html
    """
    section = config.cluster.slurm
    wanted = None if section is None else section.setup
    if wanted is None:
        return
    if not config.runs_project_scripts:
        message = (
            "is done on no node: each runs your own scripts instead, or none; set `run` to after, "
            "or leave this key out"
        )
        yield error(_SETUP, sorted(wanted.model_fields_set), message)
    if wanted.users is None:
        return
    homes = None if config.storage is None else config.storage.home_directories
    if homes is not None and homes.root_squash:
        message = (
            "must be false with cluster.slurm.setup.users: root on the nodes makes the users' homes"
        )
        yield error(("storage", "home_directories", "root_squash"), True, message)
    shared = [*shared_directories(config.cluster, config.storage)]
    for message in _homes(wanted.user_lines, shared):
        yield error((*_SETUP, "users"), wanted.users, message)
    if not shared:
        message = (
            "get a separate home on each node, and no key from node to node, because there is no "
            "file system that all groups mount; add storage"
        )
        yield warning((*_SETUP, "users"), wanted.users, message)


def _homes(users: Iterable[SlurmUser], shared: Sequence[str]) -> Iterator[str]:
    """Yield homes in the way of the system, or of others: root makes them, and gives them away."""
    below = shared or [HomeDirectoriesConfig.node_path, LustreConfig.node_path]
    owners: dict[str, str] = {}
    for user in users:
        home = user.home or f"{below[0]}/{user.name}"
        if home in owners:
            owner = owners[home]
            yield f"gives {user.name} the home {home}, which is that of {owner}; each needs one"
        owners.setdefault(home, user.name)
        if not any(home.startswith(f"{folder}/") for folder in below):
            yield (
                f"gives {user.name} the home {home}; must be below {' or '.join(below)}, where the "
                "nodes' file systems are"
            )
    for home, name in owners.items():
        outer = next((str(up) for up in PurePosixPath(home).parents if str(up) in owners), None)
        if outer is not None:
            yield (
                f"gives {name} the home {home}, inside that of {owners[outer]}, {outer}; must be "
                "in no other home"
            )
