"""The three ways in which nodes of a Slurm cluster are set up."""

import json
from pathlib import Path
from typing import Any

import pytest
import yaml

from hyperpod_cdk import Config
from tests.conftest import Synthesize
from tests.support.assembly import merged
from tests.support.configs import CONFIG_FOLDER
from tests.support.template_view import TemplateView

EXAMPLE = CONFIG_FOLDER / "examples" / "slurm-users.yaml"
OWN = str(CONFIG_FOLDER / "examples" / "own-scripts")
SCRIPTS, CLUSTER = "Custom::LifecycleScripts", "Custom::HyperPodCluster"
AFTER, INSTEAD = {"OnInitComplete": "on_init_complete.sh"}, {"OnCreate": "on_create.sh"}


def configured(changes: dict[str, Any], *, group: dict[str, Any] | None = None) -> Config:
    """Return the example with changes, and those of its last group."""
    document = merged(yaml.safe_load(EXAMPLE.read_text("utf-8")), changes)
    document["cluster"]["instance_groups"][-1].update(group or {})
    return Config.model_validate(document, context={"folder": EXAMPLE.parent})


@pytest.mark.parametrize(
    ("changes", "group", "put", "run"),
    [
        ({"cluster": {"slurm": {"setup": None}}}, {}, {}, [None, None]),
        ({}, {}, {"": AFTER}, [AFTER, AFTER]),
        ({}, {"lifecycle": None}, {"": AFTER}, [AFTER, None]),
        (
            {"cluster": {"slurm": {"setup": None}}, "lifecycle_scripts": {"directory": OWN}},
            {},
            {"": AFTER, "own": INSTEAD},
            [AFTER, AFTER],
        ),
        (
            {"cluster": {"slurm": {"setup": None}}},
            {"lifecycle": {"directory": OWN}},
            {"folders/own-scripts": AFTER, "folders/own-scripts/own": INSTEAD},
            [None, AFTER],
        ),
        (
            {
                "cluster": {"slurm": {"setup": None}},
                "lifecycle_scripts": {"directory": OWN, "run": "instead"},
            },
            {},
            {"": INSTEAD},
            [INSTEAD, INSTEAD],
        ),
        (
            {},
            {"lifecycle": {"directory": OWN, "run": "instead"}},
            {"": AFTER, "folders/own-scripts": INSTEAD},
            [AFTER, INSTEAD],
        ),
    ],
)
def test_what_is_put_and_what_nodes_run(
    synthesize: Synthesize,
    changes: dict[str, Any],
    group: dict[str, Any],
    put: dict[str, dict[str, str]],
    run: list[dict[str, str] | None],
) -> None:
    templates = synthesize(configured(changes, group=group))
    platform = TemplateView(templates["ml-platform"].to_json())
    hyperpod = TemplateView(templates["ml-hyperpod"].to_json())

    resources = {each.get("Prefix", ""): each for each in platform.all(SCRIPTS)}
    assert resources.keys() == put.keys()
    for prefix, entry in put.items():
        assert set(entry.values()) <= set(json.loads(resources[prefix]["Keys"]))
    request = json.loads(hyperpod.text(hyperpod.one(CLUSTER)["Request"]))
    first, *_, last = [each.get("LifeCycleConfig") for each in request["InstanceGroups"]]
    for found, wanted in zip((first, last), run, strict=True):
        uri = {} if found is None else {"SourceS3Uri": found["SourceS3Uri"]}
        assert found == (None if wanted is None else wanted | uri)
    # Nodes begin and cease to run scripts, and no export is removed while it is used.
    exports = [output["Value"] for output in platform.outputs.values() if "Export" in output]
    assert platform.outputs["S3BucketName"]["Value"] in exports


def test_nodes_get_what_the_setup_says(synthesize: Synthesize, tmp_path: Path) -> None:
    users = tmp_path / "users.txt"
    users.write_text("# of AWS's form\r\nalice, 2001, /fsx/alice\r\n\r\nbob,2002\n")
    setup = {"users": str(users), "motd": "Hello\n", "open_files": 4096}
    config = configured(
        {"cluster": {"slurm": {"setup": setup}}, "storage": {"home_directories": None}}
    )

    (resource,) = TemplateView(synthesize(config)["ml-platform"].to_json()).all(SCRIPTS)

    assert json.loads(resource["Files"]) == {
        "deployment.env": "OPEN_FILES=4096\nSHARED_DIRECTORIES=/fsx\n",
        "motd.txt": "Hello\n",
        "users.csv": "alice,2001,/fsx/alice,\nbob,2002,,\n",
    }
