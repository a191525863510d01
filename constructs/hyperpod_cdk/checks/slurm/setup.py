"""Whether nodes can do what their setup says."""

from hyperpod_cdk.config.config import Config
from hyperpod_cdk.config.slurm_scripts import shared_directories
from hyperpod_cdk.schema.errors import Findings, error, warning

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
    if not [*shared_directories(config.cluster, config.storage)]:
        message = (
            "get a separate home on each node, and no key from node to node, because there is no "
            "file system that all groups mount; add storage"
        )
        yield warning((*_SETUP, "users"), wanted.users, message)
