"""What a hostile configuration gets: a line that refuses it, or one that warns of it.

Archives and what AWS says are in the files of this folder. Text that is not YAML is in
`tests/constructs/schema/test_yaml_file.py`, places of scripts in
`tests/constructs/hyperpod/test_instance_group_refusals.py`. What `deploy.sh` gets is in
`tests/cli/deliver/templates/test_deploy_script.py`, scripts that are not the template's in
`tests/provisioner/test_lifecycle_scripts.py`, HTML in `tests/cli/inspect/test_report.py`.
"""

import os
import re
from collections.abc import Callable, Mapping, Sequence
from pathlib import Path
from typing import Any

import pytest
import yaml
from syrupy.assertion import SnapshotAssertion
from syrupy.extensions.json import JSONSnapshotExtension

from hyperpod_cdk import ConfigError, load_config
from hyperpod_cdk.checks import findings
from hyperpod_cdk.schema.errors import Severity
from hyperpod_cli.inspect.preflight.run import VALIDATORS
from hyperpod_cli.inspect.preflight.validator import Target
from tests.support.assembly import merged
from tests.support.configs import MINIMUM
from tests.support.provisioner.fake_s3 import client_error
from tests.support.refusals import without_names

OURS, REGION = "111122223333", "us-west-2"
ROLE, OTHERS_ROLE = f"arn:aws:iam::{OURS}:role", "arn:aws:iam::999999999999:role"
OTHERS_KEY = "arn:aws:kms:us-west-2:999999999999:key/1234abcd"
GROUP = "cluster.instance_groups[0]"
Lines = list[str]


class OthersBucket:
    """S3, where every bucket is of another account."""

    def head_bucket(self, **asked: str) -> dict[str, str]:
        if "ExpectedBucketOwner" in asked:
            raise client_error("403", "HeadBucket")
        return {"BucketRegion": REGION}


def read(path: Path) -> Lines:
    """Return what a user is told of a file, before anything is deployed."""
    try:
        config = load_config(path)
    except ConfigError as error:
        return [f"refused: {line.replace(str(path), '')}" for line in error.lines]
    target = Target(
        partition="aws", account=OURS, region=REGION, client=lambda *_, **__: OthersBucket()
    )
    found = [
        *findings(config),
        *(
            finding
            for name in ("existing-bucket", "iam-principals", "other-accounts")
            for finding, _ in VALIDATORS[name](config, target)
        ),
    ]
    return [f"{'refused' if f.severity is Severity.ERROR else 'warned'}: :{f}" for f in found]


def at(path: str, value: object) -> Mapping[str, Any]:
    """Return changes of a configuration: a value for one key, or for one of the only group."""
    if path.startswith(GROUP):
        (group,) = MINIMUM["cluster"]["instance_groups"]
        key = path.removeprefix(f"{GROUP}.")
        return {"cluster": {"instance_groups": [{**group, **at(key, value)}]}}
    for key in reversed(path.split(".")):
        value = {key: value}
    assert isinstance(value, Mapping)
    return value


REFUSED: Sequence[tuple[str, object]] = (
    # names
    ("name", "sagemaker"),
    ("name", "LabelingFunction"),
    (f"{GROUP}.name", "<script>"),
    (f"{GROUP}.name", "\x1b[2J"),
    (f"{GROUP}.labels", {"a": "$(id)"}),
    (f"{GROUP}.labels", {"<x>": "a"}),
    (f"{GROUP}.image_id", "ami-$(id)"),
    # principals
    *(
        (path, [principal])
        for path in ("eks.admins", "lifecycle_scripts.writers")
        for principal in (f"arn:aws:iam::{OURS}:root", "*", f"{ROLE}/*", f"{ROLE}/a?b")
    ),
    ("cluster.execution_role_arn", f"{ROLE}/*"),
    ("cluster.execution_role_arn", f"{OTHERS_ROLE}/A"),
    ("encryption.kms_key_arn", "alias/mine"),
    # namespaces
    *(
        ("eks.editors", [{"namespaces": [namespace], "principals": [f"{ROLE}/A"]}])
        for namespace in (
            *("kube-system", "*", "k*", "kube-node-lease"),
            *("kubeflow", "mpi-operator", "aws-hyperpod", "a*"),
        )
    ),
    # tags
    ("tags", {"hyperpod-cdk:stack-id": "x"}),
    ("tags.team", "${AWS::AccountId}"),
    ("tags.team", "{{resolve:ssm:x}}"),
    ("tags.team", "\u202ea"),
    ("tags.team", "${Token[AWS.AccountId.4]}"),
    # values of the chart, and where it and its images are from
    ("helm.values.a", "{{resolve:ssm-secure:x}}"),
    ("helm.values.a", "{{resolve:secretsmanager:x}}"),
    ("helm.image_registry", "$(id)"),
    ("helm.release", "../x"),
    ("helm.namespace", "$(id)"),
    ("helm.chart", "https://example.com/x.tgz"),
    ("helm.chart", "../../etc"),
    # buckets and scripts
    ("cluster.data_buckets", [{"name": "*"}]),
    ("cluster.data_buckets", [{"name": "abc", "prefix": "*"}]),
    ("lifecycle_scripts.existing_bucket_name", "sagemaker-x"),
    ("lifecycle_scripts.existing_bucket_name", "-x;id"),
    ("lifecycle_scripts.existing_bucket_name", "scripts-of-others"),
    ("lifecycle_scripts.bucket_name", "x;id"),
    *(("lifecycle_scripts.prefix", prefix) for prefix in ("..", "a/../b", "*")),
    ("lifecycle_scripts.directory", "/etc"),
    ("node_health.script", "/etc/passwd"),
    ("node_health.script", "/dev/zero"),
    # what a group names
    (f"{GROUP}.ebs_volumes", [{"volume_size_gib": 100, "kms_key_id": "*"}]),
    (f"{GROUP}.scheduled_update", {"deployment": {"rollback_alarms": ["$(id)\x1b[2J"]}}),
    (
        "eks.editors",
        [
            {
                "namespaces": ["team"],
                "privileged_namespaces": ["kube-system"],
                "principals": [f"{ROLE}/A"],
            }
        ],
    ),
)
WARNED: Sequence[tuple[str, object]] = (
    ("eks.admins", [f"{OTHERS_ROLE}/A"]),
    ("lifecycle_scripts.writers", [f"{OTHERS_ROLE}/A"]),
    ("encryption.kms_key_arn", OTHERS_KEY),
    (f"{GROUP}.ebs_volumes", [{"volume_size_gib": 100, "kms_key_id": OTHERS_KEY}]),
    ("eks.editors", [{"namespaces": ["default"], "principals": [f"{OTHERS_ROLE}/A"]}]),
    ("helm.values", {"cluster-role-and-bindings": {"enabled": True}}),
    ("tags.password", "x"),
    ("helm.values.a.adminPassword", "x"),
    ("helm.values.env", [{"name": "TOKEN", "value": "x"}]),
    ("eks.public_access_cidrs", ["0.0.0.0/1", "128.0.0.0/1"]),
)


@pytest.mark.parametrize("kind", ["refused", "warned"])
def test_hostile_values_are_named(kind: str, tmp_path: Path, snapshot: SnapshotAssertion) -> None:
    path = tmp_path / "config.yaml"
    said = {}
    for key, value in REFUSED if kind == "refused" else WARNED:
        write(path, at(key, value))
        lines = [without_names(line).replace(str(tmp_path), "FOLDER") for line in read(path)]
        place = re.compile(rf"{kind}: :(\d+: )?{re.escape(key)}\b")
        found = [line.partition(": ")[2] for line in lines if place.match(line)]
        assert found, f"{key}: {value!r}"
        assert all(line.isprintable() for line in lines)
        said[f"{key}: {value!a}"] = [re.sub(r"^:(\d+: )?", "", line) for line in found]

    assert said == snapshot(extension_class=JSONSnapshotExtension)


def write(path: Path, changes: Mapping[str, Any]) -> None:
    path.write_text(yaml.safe_dump(merged(MINIMUM, changes), allow_unicode=False), "utf-8")


def editors_of_the_release(path: Path) -> None:
    """Write a configuration whose editors have the namespace that the release was moved to."""
    editors = [{"namespaces": ["platform"], "principals": [f"{ROLE}/A"]}]
    write(path, {"eks": {"editors": editors}, "helm": {"namespace": "platform"}})


def linked_scripts(path: Path) -> None:
    """Write a configuration whose folder of scripts has a link in it."""
    own = path.parent / "own"
    own.mkdir()
    (own / "on_create.sh").symlink_to("/bin/true")
    write(path, at("lifecycle_scripts.directory", "own"))


FILES: Mapping[str, Callable[[Path], object]] = {
    "python tag": lambda path: path.write_text("name: !!python/object/apply:os.system [id]"),
    "alias of itself": lambda path: path.write_text("name: ml\nhelm: {values: &a {b: *a}}\n"),
    "integer": lambda path: path.write_text(f"name: {'9' * 5_000}"),
    "aliases": lambda path: path.write_text(
        "\n".join(
            ["a0: &a0 [x]"]
            + [f"a{n}: &a{n} [{', '.join([f'*a{n - 1}'] * 10)}]" for n in range(1, 40)]
        )
    ),
    "pipe": os.mkfifo,
    "endless": lambda path: path.symlink_to("/dev/zero"),
    "folder": Path.mkdir,
    "public endpoint of a closed network": lambda path: write(path, {"network": {"closed": True}}),
    "editors of the release": editors_of_the_release,
    "scripts with a link": linked_scripts,
}


@pytest.mark.parametrize("name", FILES)
def test_a_hostile_file_is_named(name: str, tmp_path: Path, snapshot: SnapshotAssertion) -> None:
    path = tmp_path / "config.yaml"
    FILES[name](path)
    lines = [line.replace(f"{tmp_path}", "FOLDER") for line in read(path)]
    assert lines == snapshot
    assert all(line.isprintable() for line in lines)
