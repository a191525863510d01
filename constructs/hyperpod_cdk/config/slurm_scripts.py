"""The scripts that nodes of a Slurm cluster run once their AMI has set Slurm up."""

from collections.abc import Iterator

from hyperpod_cdk.hyperpod.section import ClusterConfig
from hyperpod_cdk.lifecycle_scripts.folder import ScriptFolder
from hyperpod_cdk.storage.lustre_section import LustreConfig
from hyperpod_cdk.storage.section import HomeDirectoriesConfig, StorageConfig
from hyperpod_cdk.synthesis.assets import asset_directory


def slurm_scripts(*, cluster: ClusterConfig, storage: StorageConfig | None) -> ScriptFolder:
    """Return the project's scripts, which do what `cluster.slurm.setup` says, if that is there."""
    setup = None if cluster.slurm is None else cluster.slurm.setup
    settings: dict[str, str] = {}
    files: dict[str, str] = {}
    if setup is not None:
        settings["OPEN_FILES"] = str(setup.open_files)
        settings["SHARED_DIRECTORIES"] = " ".join(shared_directories(cluster, storage))
        users = [",".join(user) for user in setup.user_lines]
        texts = {"users.csv": "\n".join(users), "motd.txt": (setup.motd or "").strip("\n")}
        files = {path: f"{text}\n" for path, text in texts.items() if text}
    return ScriptFolder(
        directory=asset_directory("lifecycle") / "slurm",
        entry="on_init_complete.sh",
        after_ami=True,
        before_own_only=setup is None,
        settings=settings,
        files=files,
    )


def shared_directories(cluster: ClusterConfig, storage: StorageConfig | None) -> Iterator[str]:
    """Yield where every node has a file system: homes on OpenZFS before those on Lustre."""
    placed = () if storage is None else storage.placed_files
    made = {files.mounts_key: {files.node_path} for _, files in placed}
    for kind in (HomeDirectoriesConfig, LustreConfig):
        key = kind.mounts_key
        of_groups = [
            {mount.mount_path or kind.node_path for mount in getattr(group, key)}
            or made.get(key, set())
            for group in cluster.all_groups
        ]
        yield from sorted(set[str].intersection(*of_groups))
