"""What a customer managed key encrypts in the templates, and what each switch leaves out."""

import json
from collections.abc import Iterator, Mapping
from fnmatch import fnmatchcase
from typing import Any

import pytest

from hyperpod_cdk import Config, load_config
from hyperpod_stacks.deployment import log_groups_of
from tests.conftest import Assemble
from tests.support.assembly import Assembly
from tests.support.configs import CONFIG_FOLDER, EVERY_FIELD, KEY, configured

Resource = Mapping[str, Any]

# The properties that name the key, by type and kind of data.
KINDS = {
    "eks_secrets": ("AWS::EKS::Cluster", "EncryptionConfig"),
    "lifecycle_bucket": ("AWS::S3::Bucket", "KMSMasterKeyID"),
    "file_system": ("AWS::FSx::FileSystem", "KmsKeyId"),
    "node_volumes": ("Custom::HyperPodCluster", "VolumeKmsKeyId"),
    "logs": ("AWS::Logs::LogGroup", "KmsKeyId"),
}


@pytest.fixture(scope="module")
def hardened() -> Config:
    return load_config(CONFIG_FOLDER / "examples" / "hardened.yaml")


def resources(assembly: Assembly, resource_type: str) -> list[Resource]:
    return [
        resource
        for template in assembly.templates().values()
        for resource in template["Resources"].values()
        if resource["Type"] == resource_type
    ]


def encrypted(assembly: Assembly) -> set[str]:
    """Return the kinds of data of which a property names a key."""
    return {
        kind
        for kind, (resource_type, name) in KINDS.items()
        if any(
            name in json.dumps(each["Properties"]) for each in resources(assembly, resource_type)
        )
    }


def texts(value: object) -> Iterator[str]:
    """Yield the texts of a template's value, each reference as an asterisk."""
    match value:
        case str():
            yield value
        case {"Fn::Join": [_, parts]}:
            yield "".join(each if isinstance(each, str) else "*" for each in parts)
        case list():
            for item in value:
                yield from texts(item)


# CDK shortens the names of functions of the longer one.
@pytest.mark.parametrize("name", ["hardened", "training-of-research"])
def test_its_policy_lets_logs_encrypt_the_stacks_groups_and_nothing_else(
    assemble: Assemble, hardened: Config, name: str
) -> None:
    assembly = assemble(hardened.model_copy(update={"name": name}))
    [key] = resources(assembly, "AWS::KMS::Key")
    account, logs = key["Properties"]["KeyPolicy"]["Statement"]
    stack = assembly.templates()[f"{name}-platform"]["Resources"]
    groups = {name: each for name, each in stack.items() if each["Type"] == "AWS::Logs::LogGroup"}

    assert [*account["Principal"]] == ["AWS"]
    assert logs["Principal"] == {
        "Service": {"Fn::Join": ["", ["logs.us-west-2.", {"Ref": "AWS::URLSuffix"}]]}
    }
    [arns] = logs["Condition"]["ArnLike"].values()
    patterns = [text.rpartition("log-group:")[2] for text in texts(arns)]
    assert "*" not in patterns
    assert len(groups) == 6
    for logical_id, group in groups.items():
        named = group["Properties"].get("LogGroupName", f"{name}-platform-{logical_id}-1A2B")
        [text] = texts(named)
        assert [each for each in patterns if fnmatchcase(text, each)], text


def test_the_owner_of_a_key_is_asked_for_the_groups_of_every_stack() -> None:
    config = load_config(EVERY_FIELD)

    assert config.encryption.kms_key_arn is not None
    assert {*log_groups_of(config)} > {
        f"/aws/codebuild/{config.repository_name}",
        f"/aws/containerinsights/{config.eks_cluster_name}/performance",
        f"/aws/eks/{config.eks_cluster_name}/cluster",
        f"{config.name}-observability-*",
    }


def test_the_platform_stack_is_protected_too(assemble: Assemble, hardened: Config) -> None:
    protected = {
        name: assemble(hardened).artifact(name)["properties"].get("terminationProtection", False)
        for name in ("hardened-platform", "hardened-storage", "hardened-hyperpod")
    }
    assert protected == {
        "hardened-platform": True,
        "hardened-storage": True,
        "hardened-hyperpod": False,
    }


@pytest.mark.parametrize("kind", KINDS)
def test_a_switch_leaves_its_data_out(kind: str, assemble: Assemble) -> None:
    config = configured({"encryption": {"kms_key_arn": KEY, kind: False}})
    assert encrypted(assemble(config)) == {*KINDS} - {kind}


def test_a_key_that_is_given_is_named_as_it_is_and_not_made(assemble: Assemble) -> None:
    config = configured({"encryption": {"kms_key_arn": KEY}})
    assembly = assemble(config)

    assert resources(assembly, "AWS::KMS::Key") == []
    [file_system] = resources(assembly, "AWS::FSx::FileSystem")
    assert file_system["Properties"]["KmsKeyId"] == KEY
    outputs = assembly.templates()["ml-platform"]["Outputs"]
    assert outputs["EncryptionKeyArn"]["Value"] == KEY


@pytest.mark.parametrize("encryption", [{"create_kms_key": True}, {"kms_key_arn": KEY}, {}])
def test_file_systems_of_claims_are_encrypted_as_the_first_one(
    assemble: Assemble, encryption: Mapping[str, Any]
) -> None:
    assembly = assemble(
        configured({"encryption": encryption, "storage": {"dynamic_provisioning": True}})
    )
    [first] = resources(assembly, "AWS::FSx::FileSystem")
    parameters = json.dumps(assembly.templates()["ml-storage"])
    [policy] = [
        each["Properties"]["PolicyDocument"]["Statement"]
        for each in assembly.templates()["ml-addons"]["Resources"].values()
        if each["Type"] == "AWS::IAM::Policy"
    ]
    on_key = [each for each in policy if "kms:" in json.dumps(each["Action"])]

    assert ("kmsKeyId" in parameters) == ("KmsKeyId" in first["Properties"]) == bool(encryption)
    assert len(on_key) == 2 * bool(encryption)
    for each in on_key:
        assert each["Resource"] != "*"
        [service] = texts(each["Condition"]["StringEquals"]["kms:ViaService"])
        assert service == "fsx.us-west-2.*"
        is_grant = each["Action"] == "kms:CreateGrant"
        assert (each["Condition"].get("Bool") == {"kms:GrantIsForAWSResource": "true"}) == is_grant


def test_keys_of_ones_own_come_first(assemble: Assemble) -> None:
    own = KEY.replace("1234abcd", "5678abcd")
    group = {"name": "g", "instance_type": "ml.m5.2xlarge", "instance_count": 1}
    config = configured(
        {
            "encryption": {"kms_key_arn": KEY},
            "eks": {"secrets_kms_key_arn": own},
            "cluster": {
                "instance_groups": [
                    {**group, "ebs_volumes": [{"volume_size_gib": 100, "kms_key_id": own}]}
                ]
            },
        }
    )
    assembly = assemble(config)

    [cluster] = resources(assembly, "AWS::EKS::Cluster")
    [encryption] = cluster["Properties"]["EncryptionConfig"]
    assert encryption["Provider"]["KeyArn"] == own
    [nodes] = resources(assembly, "Custom::HyperPodCluster")
    request = "".join(texts(nodes["Properties"]["Request"]))
    assert json.dumps(
        [
            {"EbsVolumeConfig": {"VolumeKmsKeyId": own, "VolumeSizeInGB": 100}},
            {"EbsVolumeConfig": {"RootVolume": True, "VolumeKmsKeyId": KEY}},
        ],
        separators=(",", ":"),
    ) in _sorted(request)


def _sorted(request: str) -> str:
    return json.dumps(
        json.loads(request)["InstanceGroups"][0]["InstanceStorageConfigs"],
        separators=(",", ":"),
        sort_keys=True,
    )


@pytest.mark.parametrize(
    ("before", "after", "refused"),
    [
        ({}, {"create_kms_key": True}, ["ml-platform", "ml-storage"]),
        ({"create_kms_key": True}, {}, ["ml-platform", "ml-storage"]),
        ({"create_kms_key": True}, {"kms_key_arn": KEY}, ["ml-platform", "ml-storage"]),
        ({}, {"create_kms_key": True, "file_system": False}, ["ml-platform"]),
        ({}, {"create_kms_key": True, "eks_secrets": False, "file_system": False}, []),
    ],
)
def test_cloudformation_refuses_another_key_of_what_would_be_replaced(
    before: dict[str, Any], after: dict[str, Any], refused: list[str], assemble: Assemble
) -> None:
    deployed, wanted = (
        assemble(configured({"encryption": each})).templates() for each in (before, after)
    )

    found = [
        stack
        for stack, template in wanted.items()
        if any(
            _fixed(template, rule) != deployed[stack]["Parameters"][parameter]["Default"]
            for rule, parameter in _compared(template)
            if "KmsKeyArn" in parameter
        )
    ]

    assert found == refused


def _compared(template: Mapping[str, Any]) -> Iterator[tuple[str, str]]:
    for name, rule in template.get("Rules", {}).items():
        for assertion in rule["Assertions"]:
            if "Fn::Equals" in assertion["Assert"]:
                yield name, assertion["Assert"]["Fn::Equals"][0]["Ref"]


def _fixed(template: Mapping[str, Any], rule: str) -> object:
    return template["Rules"][rule]["Assertions"][0]["Assert"]["Fn::Equals"][1]
