"""What a hostile configuration gets: a line that refuses it, or one that warns of it.

Archives and what AWS says are in the files of this folder. Text that is not YAML is in
`tests/constructs/schema/test_yaml_file.py`, places of scripts in
`tests/constructs/hyperpod/test_instance_group_refusals.py`. What `deploy.sh` gets is in
`tests/cli/deliver/templates/test_deploy_script.py`, scripts that are not the template's in
`tests/provisioner/test_lifecycle_scripts.py`, HTML in `tests/cli/inspect/test_report.py`.
"""

import os
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Any

import pytest
import yaml

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
OF_CHARTS = (
    "where the Helm release or an add-on has service accounts with rights on the whole cluster"
)
REFUSED, WARNED = "refused: ", "warned: "
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
        return [f"{REFUSED}{line.replace(str(path), '')}" for line in error.lines]
    target = Target(
        partition="aws", account=OURS, region=REGION, client=lambda *_, **__: OthersBucket()
    )
    found = [
        *findings(config),
        *(
            finding
            for name in ("existing-bucket", "existing-role", "other-accounts")
            for finding, _ in VALIDATORS[name](config, target)
        ),
    ]
    return [f"{REFUSED if f.severity is Severity.ERROR else WARNED}:{f}" for f in found]


def assert_told(lines: Lines, gets: str) -> None:
    kind, _, text = gets.partition(": ")
    found = [without_names(line) for line in lines]
    assert any(line.startswith(kind) and text in line for line in found), found
    assert all(line.isprintable() for line in found)


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


KEYS = [
    # names
    ("name", "sagemaker", "refused: AWS managed policies let their holders invoke every function"),
    ("name", "LabelingFunction", "refused: must be 1 to 20 lower-case letters"),
    (f"{GROUP}.name", "<script>", "refused: must match [a-zA-Z0-9](-*[a-zA-Z0-9])*"),
    (f"{GROUP}.name", "\x1b[2J", "refused: must not hold the control character U+001B"),
    (f"{GROUP}.labels", {"a": "$(id)"}, "refused: must match (([A-Za-z0-9]"),
    (f"{GROUP}.labels", {"<x>": "a"}, "refused: labels['<x>']: '<x>' must match"),
    (f"{GROUP}.image_id", "ami-$(id)", "refused: the API's pattern for an AMI"),
    # principals
    *(
        (path, [principal], "refused: must be the ARN of an IAM role or user")
        for path in ("eks.admins", "lifecycle_scripts.writers")
        for principal in (f"arn:aws:iam::{OURS}:root", "*", f"{ROLE}/*", f"{ROLE}/a?b")
    ),
    ("cluster.execution_role_arn", f"{ROLE}/*", "refused: must be the ARN of an IAM role"),
    ("eks.admins", [f"{OTHERS_ROLE}/A"], "warned: is of account 999999999999, and the deployment"),
    ("lifecycle_scripts.writers", [f"{OTHERS_ROLE}/A"], "warned: is of account 999999999999"),
    (
        "cluster.execution_role_arn",
        f"{OTHERS_ROLE}/A",
        f"refused: must be a role of account {OURS}",
    ),
    ("encryption.kms_key_arn", OTHERS_KEY, "warned: its account decides who can use it"),
    ("encryption.kms_key_arn", "alias/mine", "refused: must be the ARN of a KMS key"),
    # namespaces
    *(
        (
            "eks.editors",
            [{"namespaces": [namespace], "principals": [f"{ROLE}/A"]}],
            "refused: must leave out kube-system",
        )
        for namespace in ("kube-system", "*", "k*")
    ),
    # `default` is allowed: docs/recipes.md says what an editor can change there.
    *(
        (
            "eks.editors",
            [{"namespaces": [pattern], "principals": [f"{ROLE}/A"]}],
            f"refused: eks.editors[0].namespaces[0]: '{pattern}' must leave out {namespace}, {why}",
        )
        for pattern, namespace, why in (
            ("kube-node-lease", "kube-node-lease", "which is Kubernetes' own"),
            ("kubeflow", "kubeflow", OF_CHARTS),
            ("mpi-operator", "mpi-operator", OF_CHARTS),
            ("aws-hyperpod", "aws-hyperpod", OF_CHARTS),
            ("a*", "aws-hyperpod", OF_CHARTS),
        )
    ),
    # tags
    (
        "tags",
        {"hyperpod-cdk:stack-id": "x"},
        "refused: tags['hyperpod-cdk:stack-id']: 'hyperpod-cdk:stack-id' must not start with",
    ),
    ("tags.team", "${AWS::AccountId}", "refused: the API's pattern for a tag value"),
    ("tags.team", "{{resolve:ssm:x}}", "refused: the API's pattern for a tag value"),
    ("tags.team", "\u202ea", r"refused: '\u202ea' must match"),
    ("tags.team", "${Token[AWS.AccountId.4]}", "refused: must not hold a CDK token"),
    ("tags.password", "x", "warned: 'password' looks like a secret, and tags are readable"),
    # values of the chart, and where it and its images are from
    ("helm.values.a.adminPassword", "x", "warned: looks like a secret, and chart values are"),
    ("helm.values.env", [{"name": "TOKEN", "value": "x"}], "warned: 'TOKEN' looks like a secret"),
    ("helm.values.a", "{{resolve:ssm-secure:x}}", "refused: must not refer to a secret"),
    ("helm.values.a", "{{resolve:secretsmanager:x}}", "refused: must not refer to a secret"),
    ("helm.image_registry", "$(id)", "refused: must be a registry"),
    ("helm.release", "../x", "refused: as Kubernetes (RFC 1123) wants a Helm release"),
    ("helm.namespace", "$(id)", "refused: as Kubernetes (RFC 1123) wants a namespace"),
    ("helm.chart", "https://example.com/x.tgz", "refused: must be a .tgz chart archive or a"),
    ("helm.chart", "../../etc", "refused: must be a .tgz chart archive or a directory"),
    # buckets and scripts
    ("cluster.data_buckets", [{"name": "*"}], "refused: must be the name of an S3 bucket"),
    ("cluster.data_buckets", [{"name": "abc", "prefix": "*"}], "refused: must be a prefix such"),
    ("lifecycle_scripts.existing_bucket_name", "sagemaker-x", "refused: is not of account 1111"),
    ("lifecycle_scripts.existing_bucket_name", "-x;id", "refused: must be the name of an S3"),
    ("lifecycle_scripts.bucket_name", "x;id", "refused: must be sagemaker- and up to"),
    *(
        ("lifecycle_scripts.prefix", prefix, "refused: must be a prefix such as")
        for prefix in ("..", "a/../b", "*")
    ),
    ("lifecycle_scripts.directory", "/etc", "refused: has no on_create.sh"),
    ("node_health", {"script": "/etc/passwd"}, "refused: must say in its first line what runs it"),
    ("node_health", {"script": "/dev/zero"}, "refused: '/dev/zero' is not a file"),
    # what a group names
    (
        f"{GROUP}.ebs_volumes",
        [{"volume_size_gib": 100, "kms_key_id": "*"}],
        "refused: must be the ID or the ARN of a KMS key",
    ),
    (f"{GROUP}.tags", {"a": "b"}, "refused: 'tags' is not a key here"),
    ("node_health", {"hostPaths": ["/"]}, "refused: 'hostPaths' is not a key here"),
    # network
    ("network.closed", True, "refused: must be private with network.closed"),
    (
        "eks.public_access_cidrs",
        ["0.0.0.0/1", "128.0.0.0/1"],
        "warned: eks.public_access_cidrs: ['0.0.0.0/1', '128.0.0.0/1'] lets every address reach",
    ),
]


@pytest.mark.parametrize(("key", "value", "gets"), KEYS, ids=ascii)
def test_a_hostile_value_is_named(key: str, value: object, gets: str, tmp_path: Path) -> None:
    path = tmp_path / "config.yaml"
    write(path, at(key, value))
    assert_told(read(path), gets)


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


FILES: Mapping[str, tuple[Callable[[Path], object], str]] = {
    "python tag": (
        lambda path: path.write_text("name: !!python/object/apply:os.system [id]"),
        "refused: a value cannot begin with !",
    ),
    "alias of itself": (
        lambda path: path.write_text("name: ml\nhelm: {values: &a {b: *a}}\n"),
        "refused: must not be nested deeper than 30 levels",
    ),
    "integer": (
        lambda path: path.write_text(f"name: {'9' * 5_000}"),
        "refused: is not a value of its type",
    ),
    "aliases": (
        lambda path: path.write_text(
            "\n".join(
                ["a0: &a0 [x]"]
                + [f"a{n}: &a{n} [{', '.join([f'*a{n - 1}'] * 10)}]" for n in range(1, 40)]
            )
        ),
        "refused: its aliases expand to more than 100,000 values",
    ),
    "pipe": (os.mkfifo, "refused: is not a file"),
    "endless": (lambda path: path.symlink_to("/dev/zero"), "refused: is not a file"),
    "folder": (Path.mkdir, "refused: is not a file"),
    "editors of the release": (
        editors_of_the_release,
        f"refused: eks.editors[0].namespaces[0]: 'platform' must leave out platform, {OF_CHARTS}",
    ),
    "scripts with a link": (linked_scripts, "refused: on_create.sh"),
}


@pytest.mark.parametrize("name", FILES)
def test_a_hostile_file_is_named(name: str, tmp_path: Path) -> None:
    make, gets = FILES[name]
    path = tmp_path / "config.yaml"
    make(path)
    assert_told(read(path), gets)
