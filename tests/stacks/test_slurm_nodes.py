"""The three ways in which nodes of a Slurm cluster are set up."""

import json
import re
from pathlib import Path
from typing import Any

import pytest
import yaml

from hyperpod_cdk import Config
from tests.conftest import Synthesize
from tests.support.configs import CONFIG_FOLDER, merged
from tests.support.template_view import TemplateView

EXAMPLE = CONFIG_FOLDER / "examples" / "slurm-users.yaml"
OWN = str(CONFIG_FOLDER / "examples" / "own-scripts")
SCRIPTS, CLUSTER = "Custom::LifecycleScripts", "Custom::HyperPodCluster"
FILES = {
    "fsx_dns_name": r"GetAttAvailability[0-9A-F]{8}DnsName",
    "fsx_mountname": r"GetAttAvailability[0-9A-F]{8}MountName",
    "fsx_openzfs_dns_name": r"GetAttAvailabilityhome[0-9A-F]{8}DnsName",
}
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
    # What the storage stack knows is for scripts that do all of a node's setup.
    beside = {each.get("Prefix", "") for each in hyperpod.all(SCRIPTS)}
    assert beside == {prefix for prefix in put if put[prefix] == INSTEAD and prefix[-3:] != "own"}


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


def test_aws_own_scripts_find_what_they_read(synthesize: Synthesize, tmp_path: Path) -> None:
    """Names of keys: `ProvisioningParameters` in lifecycle_script.py of AWS's base-config."""
    mine, with_file = tmp_path / "mine", tmp_path / "with-file"
    for folder in (mine, with_file):
        folder.mkdir()
        (folder / "on_create.sh").write_text("#!/bin/bash\n")
    (with_file / "provisioning_parameters.json").write_text("{}\n")

    def seen(folder: Path, **changes: Any) -> TemplateView:
        scripts = {"directory": str(folder), "run": "instead"}
        without = {"cluster": {"slurm": {"setup": None}}, "lifecycle_scripts": scripts}
        templates = synthesize(configured(merged(without, changes)))
        return TemplateView(templates["ml-hyperpod"].to_json())

    def written(view: TemplateView) -> dict[str, Any]:
        resource = view.one(SCRIPTS)
        assert view.id(SCRIPTS) in view.dependencies(view.id(CLUSTER))
        assert json.loads(resource["Keys"]) == ["provisioning_parameters.json"]
        text = json.loads(view.text(resource["Files"]))["provisioning_parameters.json"]
        return dict(json.loads(text))

    found = written(seen(mine))
    for key, attribute in FILES.items():
        assert re.search(attribute, found.pop(key)), key
    assert found == {
        "version": "1.0.0",
        "workload_manager": "slurm",
        "controller_group": "controller",
        "login_group": "login",
        "worker_groups": [{"instance_group_name": "workers", "partition_name": "gpu"}],
    }
    assert written(seen(mine, storage=None)) == found
    # One of the user's own holds.
    assert seen(with_file).all(SCRIPTS) == []
