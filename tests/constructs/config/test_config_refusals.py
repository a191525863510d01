"""Rules on keys, types and everything but the network: one mistake, one line."""

import pytest

from tests.support.configs import default_document
from tests.support.refusals import line_after, lines_for

GROUP = "cluster.instance_groups[0]"
KEY = "arn:aws:kms:us-east-1:111122223333:key/1234abcd"
ROLE = "arn:aws:iam::111122223333:role/Admin"
TEXT_RULE = "must be text; write it in quotes"


def groups(*names: str) -> list[dict[str, object]]:
    return [{"name": n, "instance_type": "ml.m5.large", "instance_count": 1} for n in names]


@pytest.mark.parametrize(
    ("path", "value", "message"),
    [
        # keys
        ("nmae", 1, "'nmae' is not a key here; did you mean name? (keys: name, region, network,"),
        ("network.vpc_cird", "x", "did you mean vpc_cidr?"),
        (f"{GROUP}.instance_typ", "x", "did you mean instance_type?"),
        ("network.hyperpod_subnets[0].zone", "x", "(keys: cidr, subnet_id, availability_zone_id, "),
        # values of several keys, in YAML's words
        ("region", [None, {"a": True}], "[null, {'a': true}] must be text, not a list"),
        # types
        ("network", "x", "'x' must be a mapping of keys to values"),
        ("network", None, "null must be a mapping of keys to values; leave the key out"),
        ("network.public_subnet_cidrs", "10.192.10.0/24", "must be a list"),
        ("tags", [], "must be a mapping"),
        ("tags", {7: "x"}, "7 is not text, as every key must be"),
        ("tags.cost", 42, f"42 {TEXT_RULE}"),
        ("eks.endpoint_access", None, "null must be text"),
        ("eks.deletion_protection", "no", "must be true or false"),
        (f"{GROUP}.instance_count", "1", "'1' must be a whole number; write it without quotes"),
        (f"{GROUP}.instance_count", True, "true must be a whole number"),
        (f"{GROUP}.instance_count", 1.0, "1.0 must be a whole number"),
        (f"{GROUP}.labels", None, "null must be a mapping"),
        ("cluster.instance_groups", None, "null must be a list"),
        ("cluster.instance_groups[0]", None, "null must be a mapping"),
        # characters
        ("tags.team", "a\x7f", r"'a\x7f' must not hold the control character U+007F"),
        ("tags", {"a\x07": "b"}, "must not hold the control character U+0007"),
        ("helm.values.a", "\x00", "must not hold the control character U+0000"),
        # name and region
        ("name", "ML", "must be 1 to 20 lower-case"),
        ("name", "", "must be 1 to 20"),
        ("name", "a" * 21, "must be 1 to 20"),
        ("name", "1a", "with a letter first"),
        ("name", "a-", "inner hyphens"),
        ("name", "a\n", r"'a\n' must be"),
        ("region", "us-west2", "'us-west2' is not an AWS region; did you mean us-west-2?"),
        # EKS
        ("eks.version", "1.29", "is not a possible value (allowed: 1.30"),
        ("eks.version", "1.36", "(allowed: 1.30, 1.31, 1.32, 1.33, 1.34, 1.35)"),
        ("eks.version", 1.3, "1.3 must be text; write it in quotes (allowed: 1.30, 1.31"),
        ("eks.deletion_protection", "true", "must be true or false; write it without quotes"),
        (f"{GROUP}.instance_type", "ML.G5.12XLARGE", "did you mean ml.g5.12xlarge?"),
        ("eks.public_access_cidrs[0]", "52.1.2.3", "for this one address, write 52.1.2.3/32"),
        ("eks.endpoint_access", "privat", "did you mean private?"),
        ("eks.public_access_cidrs", [], "must list 1 to 40 blocks"),
        ("eks.public_access_cidrs", [f"52.{n}.0.0/16" for n in range(41)], "must list 1 to 40"),
        ("eks.public_access_cidrs[0]", "52.0.0.1/16", "did you mean 52.0.0.0/16?"),
        ("eks.public_access_cidrs[0]", "10.1.0.0/16", "is a private block, which EKS refuses"),
        ("eks.public_access_cidrs[1]", "0.0.0.0/0", "is listed twice"),
        ("eks.admins[0]", "Admin", "must be the ARN of an IAM role or user"),
        ("eks.admins[0]", "arn:aws:iam::111122223333:root", "must be the ARN of an IAM role"),
        ("eks.admins[0]", "arn:aws:sts::111122223333:assumed-role/A/me", "not that of a session"),
        ("eks.admins[0]", ROLE.replace("aws", "aws-cn"), "must be of partition aws"),
        ("eks.secrets_kms_key_arn", "alias/key", "must be the ARN of a KMS key"),
        ("eks.secrets_kms_key_arn", KEY, "must be of region us-west-2"),
        # storage
        ("storage.capacity_gib", 0, "must be 1200"),
        ("storage.capacity_gib", -2400, "must be 1200"),
        ("storage.compression", "lz4", "did you mean LZ4? (allowed: NONE, LZ4)"),
        ("storage.availability_zone_id", "usw2-az1", "a HyperPod subnet's zone (usw2-az2)"),
        # helm
        ("helm.release", "Hyperpod", "must be 1 to 53 lower-case"),
        ("helm.release", "a" * 54, "must be 1 to 53"),
        ("helm.namespace", "kube_system", "must be 1 to 63 lower-case"),
        ("helm.namespace", "a" * 64, "must be 1 to 63"),
        ("helm.chart", "missing.tgz", "must be a .tgz chart archive or a directory"),
        ("helm.chart", "a\nb.tgz", "must be a .tgz chart archive or a directory"),
        ("helm.chart", "a" * 5000, "must be a .tgz chart archive or a directory"),
        ("helm.wait_for_ready_minutes", 46, "must be 0 to 45"),
        ("helm.wait_for_ready_minutes", -1, "must be 0 to 45"),
        ("helm.values", {1: 2}, "1 must be text to be a key; write it in quotes"),
        # cluster
        ("cluster.name", "ml_cluster", "the API's pattern for a cluster name"),
        ("cluster.name", "ml-", "must match"),
        ("cluster.name", "a" * 64, "must be 1 to 63 characters"),
        (
            "cluster.node_recovery",
            "automatic",
            "did you mean Automatic? (allowed: Automatic, None)",
        ),
        ("cluster.node_provisioning_mode", "Classic", "(allowed: Continuous)"),
        (
            "cluster.instance_groups",
            [],
            "0 items; must be 1 to 100, the API's limits for the number of",
        ),
        (
            "cluster.instance_groups",
            groups(*(f"g{n}" for n in range(101))),
            "101 items; must be 1 to 100",
        ),
        ("cluster.instance_groups[1].name", "worker-group-1", "the name of instance_groups[0]"),
        (f"{GROUP}.name", "worker_1", "must match"),
        (f"{GROUP}.name", "a" * 64, "must be 1 to 63 characters"),
        (f"{GROUP}.instance_type", "g5.12xlarge", "did you mean ml.g5.12xlarge?"),
        (f"{GROUP}.instance_count", -1, "-1 must be 0 to 6758"),
        (f"{GROUP}.instance_count", 6759, "6759 must be 0 to 6758"),
        (f"{GROUP}.volume_size_gib", 0, "must be 1 to 16384"),
        (f"{GROUP}.volume_size_gib", 16385, "must be 1 to 16384"),
        (f"{GROUP}.threads_per_core", 3, "must be 1 to 2"),
        (f"{GROUP}.deep_health_checks[0]", "InstanceStres", "did you mean InstanceStress?"),
        (f"{GROUP}.deep_health_checks[1]", "InstanceStress", "is listed twice"),
        # tags
        ("tags", {f"k{n}": "v" for n in range(51)}, "51 must be at most 43 tags"),
        (f"tags.{'k' * 129}", "v", "must be 1 to 128 characters"),
        ("tags.k", "v" * 257, "must be 0 to 256 characters"),
        ("tags.k", "a;b", "the API's pattern for a tag value"),
    ],
)
def test_mistake_gives_one_line(path: str, value: object, message: str) -> None:
    line = line_after(path, value)

    assert line.startswith(f"{path}: ")
    assert message in line


@pytest.mark.parametrize(
    ("path", "value", "start"),
    [
        ("slurm", {}, "slurm: 'slurm' is not a key here; use cluster.slurm (How"),
        (
            "eks.node_groups",
            [],
            "eks.node_groups: 'node_groups' is not a key here; use node_groups (Node",
        ),
        (
            "node_groups",
            [
                {
                    "name": "a",
                    "instance_types": ["m5.large"],
                    "desired_size": 1,
                    "availability_zone_id": "usw2-az4",
                }
            ],
            "node_groups[0].availability_zone_id: 'usw2-az4' must be a HyperPod subnet's zone",
        ),
        ("odd key", 1, "['odd key']: 'odd key' is not a key here"),
        ("tags", {"": "v"}, "tags['']: '' must be 1 to 128 characters"),
        ("tags", {"AWS:k": "v"}, "tags['AWS:k']: 'AWS:k' must not start with aws:"),
        ("helm.adopt_namespaces", ["a_b"], "helm.adopt_namespaces[0]: 'a_b' must be 1 to 63"),
        ("helm.values", {"a": {"b": [float("inf")]}}, "helm.values.a.b[0]: .inf must be finite"),
        ("eks.admins", [ROLE, ROLE], f"eks.admins[1]: '{ROLE}' is listed twice"),
        (
            "eks",
            {"endpoint_access": "public", "public_access_cidrs": ["52.0.0.0/16"]},
            "eks.public_access_cidrs: ['52.0.0.0/16'] would lock the nodes out",
        ),
        (
            "storage.i_understand_all_files_are_deleted",
            True,
            "storage.delete_with_stack: false (the default) must be true too",
        ),
        (
            f"{GROUP}.instance_type",
            "ml.m5.large",
            f"{GROUP}.deep_health_checks: ['InstanceStress', 'InstanceConnectivity'] must be "
            "empty for ml.m5.large",
        ),
    ],
)
def test_line_names_the_place_of_the_fault(path: str, value: object, start: str) -> None:
    assert line_after(path, value).startswith(start)


@pytest.mark.parametrize("path", ["name", "cluster"])
def test_required_key(path: str) -> None:
    document = default_document()
    del document[path]

    assert lines_for(document) == (f"{path}: is missing and has no default",)


def test_required_keys_deeper_down() -> None:
    document = default_document()
    document["cluster"]["instance_groups"] = [{"name": "g"}]

    assert lines_for(document) == (
        f"{GROUP}.instance_type: is missing and has no default (or list several in instance_types)",
        f"{GROUP}.instance_count: is missing and has no default",
    )


def test_all_mistakes_are_reported_at_once() -> None:
    document = default_document()
    document["nmae"] = 1
    document["network"]["vpc_cidr"] = "10.192.0.1/16"
    document["network"]["availability_zone_ids"][0] = "use1-az1"
    document["eks"]["version"] = "1.2"
    document["cluster"]["instance_groups"][0]["name"] = "worker-group-2"
    document["cluster"]["instance_groups"][0]["instance_type"] = "ml.m5.huge"
    document["tags"] = {"aws:x": "y"}

    assert sorted(line.split(": ")[0] for line in lines_for(document)) == [
        "cluster.instance_groups[0].instance_type",
        "cluster.instance_groups[1].name",
        "eks.version",
        "network.availability_zone_ids[0]",
        "network.vpc_cidr",
        "nmae",
        "tags['aws:x']",
    ]
