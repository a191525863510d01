"""Rules on the lifecycle scripts that nodes run."""

from typing import Any

from hyperpod_cdk.checks.eks.stop_nodes_without_lustre import stop_nodes_without_lustre
from hyperpod_cdk.hyperpod.checks.script_folders import script_folders
from tests.support.configs import CONFIG_FOLDER
from tests.support.rule_cases import ERROR, WARNING, Cases, cluster, config, group, in_group

_OWN: dict[str, Any] = {
    "lifecycle": {"source_s3_uri": "s3://sagemaker-mine/scripts", "on_create": "on_create.sh"}
}
_FOLDER = str(CONFIG_FOLDER / "examples" / "own-scripts")
_NONE: dict[str, Any] = {"lifecycle": None}
_STOPPED = {"stop_nodes_without_lustre": True}
_KEY = "storage.stop_nodes_without_lustre"


def _folder(name: str, *, run: str = "after") -> dict[str, Any]:
    """Return what a group runs of a folder that is beside the examples."""
    return {"lifecycle": {"directory": str(CONFIG_FOLDER / "examples" / name), "run": run}}


CASES: Cases = {}
CASES[script_folders] = {
    "one folder of two groups": cluster(
        group(**_folder("own-scripts")), group(index=1, **_folder("own-scripts"))
    ),
    "two folders": cluster(
        group(**_folder("own-scripts")), group(index=1, **_folder("../../lifecycle/eks"))
    ),
    "one folder at two times": (
        cluster(
            group(**_folder("own-scripts")), group(index=1, **_folder("own-scripts", run="instead"))
        ),
        in_group(ERROR, "lifecycle.directory", index=1),
    ),
}
CASES[stop_nodes_without_lustre] = {
    "project's scripts": config(group(), storage=_STOPPED),
    "project's scripts in one group": config(group(**_OWN), group(index=1), storage=_STOPPED),
    "not to be stopped": config(group(**_OWN)),
    "no storage": config(group(**_OWN), storage=None),
    "own scripts after the project's": config(
        group(**_folder("own-scripts")), storage=_STOPPED, lifecycle_scripts={"directory": _FOLDER}
    ),
    "own scripts in place of the project's": (
        config(
            group(),
            group(index=1, **_folder("own-scripts", run="instead")),
            storage=_STOPPED,
            lifecycle_scripts={"directory": _FOLDER, "run": "instead"},
        ),
        (WARNING, _KEY),
    ),
    "the user's scripts, or none, everywhere": (
        config(group(**_OWN), group(index=1, **_NONE), storage=_STOPPED),
        (WARNING, _KEY),
    ),
}
