"""Folders of scripts with a file that HyperPod makes itself."""

from pathlib import Path, PurePosixPath

from hyperpod_cdk.config.config import Config
from hyperpod_cdk.lifecycle_scripts.section import OwnScriptsConfig, script_keys
from hyperpod_cdk.schema.errors import Findings, KeyPath, error

_FILE = "provisioning_parameters.json"


def own_parameters(config: Config) -> Findings:
    """Find the file by which Slurm was set up formerly, with which HyperPod refuses `SlurmConfig`.

    https://docs.aws.amazon.com/sagemaker/latest/dg/sagemaker-hyperpod-slurm-api-config-migration.html
    """
    folders: list[tuple[KeyPath, OwnScriptsConfig | None]] = [
        (("lifecycle_scripts",), config.lifecycle_scripts),
        *(
            ((*where, "lifecycle"), group.own_scripts)
            for where, group in config.cluster.instance_groups_with_paths()
        ),
    ]
    for place, own in folders:
        directory = None if own is None else own.directory
        for key in script_keys(Path(directory)) if directory is not None else ():
            if PurePosixPath(key).name == _FILE:
                message = (
                    f"has {key}, with which HyperPod refuses the cluster: it writes that file on "
                    "the nodes itself, from the instance groups' slurm keys; remove it"
                )
                yield error((*place, "directory"), directory, message)
