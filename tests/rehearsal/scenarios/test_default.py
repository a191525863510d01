"""config/default.yaml with what an account has, its scenarios, its users, and refused changes."""

import io
import json
import os
import re
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Any

import pytest
import yaml

from hyperpod_cdk.facts.addon_versions import ADDON_VERSIONS
from hyperpod_cdk.helm.chart_rules import placeholder_chart
from hyperpod_cli.deliver.deploy import deployment
from hyperpod_cli.inspect.verification.verify import SUBJECTS
from hyperpod_emulator.node.node import NodeInstance
from hyperpod_rehearsal.environment import SCRIPTS_AT_ONCE
from hyperpod_rehearsal.scenarios import SCENARIOS
from hyperpod_rehearsal.stage import Stage
from hyperpod_rehearsal.stand_in_chart import ChartChoice
from hyperpod_rehearsal.verification import wait_for_nodes
from hyperpod_stacks.table import StackKind, stack_names
from tests.support.aws_cli import Person
from tests.support.commands import run
from tests.support.configs import REPOSITORY, SHIPPED
from tests.support.scenario_tests import (
    in_turn,
    test_it_deploys_and_holds_what_is_verified,
    test_what_must_come_of_a_scenario_does,
)
from tests.support.stages import DEFAULT

__all__ = ["test_it_deploys_and_holds_what_is_verified", "test_what_must_come_of_a_scenario_does"]

CONFIG = DEFAULT
_ACCOUNT = "arn:aws:iam::111122223333"
_KEY = "arn:aws:kms:us-west-2:111122223333:key/1234abcd-12ab-34cd-56ef-1234567890ab"

ENV_VARS = {
    "EKS_CLUSTER_NAME": "OutputEKSClusterName",
    "EKS_CLUSTER_ARN": "OutputEKSClusterArn",
    "S3_BUCKET_NAME": "OutputS3BucketName",
    "EXECUTION_ROLE": "OutputSageMakerIAMRoleArn",
    "VPC_ID": "OutputVpcId",
    "PRIVATE_SUBNET_ID": "OutputPrivateSubnetIds",
    "SECURITY_GROUP_ID": "OutputSecurityGroupId",
}
"""The variables that the workshop's create_config.sh exports, and the output it reads for each:
https://github.com/awslabs/awsome-distributed-ai, 1.architectures/7.sagemaker-hyperpod-eks"""


_DIFFERS = re.compile(
    r"hyperpod-i-\w+"
    r"|\b(?:\d+[hms]){1,2}\b"  # ages
    r"|\d+(?=\s+\d{4}-\d\d-\d\d )"  # revisions of a release
    r"|v[\d.]+-\w+"
    r"|\d{4}-\d\d-\d\d [\d:.]+ \+0000"
    r"|/\S+/\.kube"
    r"|:\d{12}:"
)
_COLUMNS = re.compile(r"\t|  +")


def verify_commands() -> dict[str, list[list[str]]]:
    """Return each command that docs/verify.md shows an output of, with the shape of that output."""
    page = (REPOSITORY / "docs" / "verify.md").read_text("utf-8")
    block = page.partition("<!-- verify -->\n```bash\n")[2].partition("```")[0]
    parts = re.findall(r"^([^#\n].*)\n((?:# .*\n)+)", block, re.MULTILINE)
    return {command: shape(re.sub("^# ", "", output, flags=re.M)) for command, output in parts}


def shape(output: str) -> list[list[str]]:
    """Return the columns of each line, the lines sorted, without what differs each time."""
    lines = [_COLUMNS.split(_DIFFERS.sub("...", line)) for line in output.splitlines()]
    return sorted([column.strip() for column in line if column.strip()] for line in lines)


@pytest.fixture(scope="module")
def config_path(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The default configuration with existing roles, an admin, a bucket and a subnet."""
    document = yaml.safe_load(DEFAULT.read_text("utf-8"))
    document["eks"]["admins"] = [f"{_ACCOUNT}:role/team/Admin", f"{_ACCOUNT}:user/Ann"]
    document["storage"]["data_repositories"] = [{"s3_uri": "s3://training-data/set"}]
    document["storage"]["stop_nodes_without_lustre"] = True
    document["cluster"]["instance_groups"][0]["execution_role_arn"] = f"{_ACCOUNT}:role/Nodes"
    document["cluster"]["instance_groups"][1]["override_vpc"] = {
        "subnet_ids": ["subnet-0123456789abcdef0"],
        "security_group_ids": ["sg-0123456789abcdef0"],
    }
    path = tmp_path_factory.mktemp("config") / "named.yaml"
    path.write_text(yaml.safe_dump(document), "utf-8")
    return path


@pytest.mark.slow(seconds=3)
def test_nodes_get_the_settings_of_the_configuration(stage: Stage, tmp_path: Path) -> None:
    _deployed(stage)
    s3 = stage.environment.clients("s3")
    bucket = stage.outputs()["ml-platform"]["S3BucketName"]
    for item in s3.list_objects_v2(Bucket=bucket)["Contents"]:
        path = tmp_path / "scripts" / item["Key"]
        path.parent.mkdir(parents=True, exist_ok=True)
        s3.download_file(Bucket=bucket, Key=item["Key"], Filename=str(path))

    (tmp_path / "node").mkdir()
    node = NodeInstance(
        tmp_path / "node", scripts=tmp_path / "scripts", environment=SCRIPTS_AT_ONCE
    )
    node.state("failing", "lctl network up")
    run = node.run()

    assert run.code == 1
    assert "[lustre_modules] ERROR " in run.output


def _other_addresses(document: dict[str, Any]) -> None:
    document["network"]["hyperpod_subnets"][0]["cidr"] = "10.3.0.0/16"


def _encrypted_secrets(document: dict[str, Any]) -> None:
    document["eks"]["secrets_kms_key_arn"] = _KEY


def _files_elsewhere(document: dict[str, Any]) -> None:
    _further_subnet(document)
    document["storage"]["availability_zone_id"] = "usw2-az1"


def _further_subnet(document: dict[str, Any]) -> None:
    document["network"]["hyperpod_subnets"].append(
        {"cidr": "10.2.0.0/16", "availability_zone_id": "usw2-az1"}
    )


def _tagged(document: dict[str, Any]) -> None:
    document["tags"] = {"team": "research"}


def _other_name(document: dict[str, Any]) -> None:
    document["cluster"]["name"] = "another"


CHANGES: dict[str, tuple[Callable[[dict[str, Any]], None], str]] = {
    "addresses of nodes": (_other_addresses, "network.hyperpod_subnets[0].cidr: '10.3.0.0/16' "),
    # Any other key of the network is refused in the same way (tests/changes).
    "encryption of secrets": (_encrypted_secrets, f"eks.secrets_kms_key_arn: '{_KEY}' "),
    "name of the cluster": (_other_name, "cluster.name: 'another' "),
    "zone of the file system": (_files_elsewhere, "storage.availability_zone_id: 'usw2-az1' "),
}


def _deployed(stage: Stage) -> None:
    if stage.status("hyperpod") is None:
        assert stage.deploy() is None


def _network_and_files(stage: Stage) -> list[str]:
    clients = stage.environment.clients
    subnets = clients("ec2").describe_subnets()["Subnets"]
    files = clients("fsx").describe_file_systems()["FileSystems"]
    ids = [*(subnet["SubnetId"] for subnet in subnets), *(each["FileSystemId"] for each in files)]
    return sorted(ids)


@pytest.mark.slow(seconds=8)
def test_an_admin_gets_in_and_so_does_whom_the_deployer_lets_in(
    stage: Stage, tmp_path: Path
) -> None:
    _deployed(stage)
    wait_for_nodes(stage.config, clients=stage.environment.clients)
    iam = stage.environment.clients("iam")
    describe = {"Effect": "Allow", "Action": "eks:DescribeCluster", "Resource": "*"}
    allowed = json.dumps({"Version": "2012-10-17", "Statement": [describe]})
    for name in ("Ann", "Bob"):
        if name == "Bob":
            iam.create_user(UserName=name)
        iam.put_user_policy(UserName=name, PolicyName="Look", PolicyDocument=allowed)
    deployer, ann, bob = (
        Person(environment=stage.environment, home=tmp_path, user=name)
        for name in (stage.deployer.user, "Ann", "Bob")
    )
    configured = ann.run("aws eks update-kubeconfig --name ml-eks")
    assert configured.returncode == 0, configured.stderr
    assert shape(configured.stdout) == verify_commands()["aws eks update-kubeconfig --name ml-eks"]

    nodes = ann.run("kubectl get nodes -o jsonpath='{.items[*].status.capacity}'")
    assert '"nvidia.com/gpu":"4"' in nodes.stdout, nodes.stderr
    assert "Unauthorized" in bob.run("kubectl get nodes").stderr

    command = stage.outputs()["ml-platform"]["GrantAdminCommand"]
    granted = deployer.run(command.replace("PRINCIPAL_ARN", f"{_ACCOUNT}:user/Bob"))
    assert granted.returncode == 0, granted.stderr
    assert bob.run("kubectl get nodes").returncode == 0


@pytest.mark.slow(seconds=2)
def test_the_verify_commands_print_what_their_page_shows(stage: Stage, tmp_path: Path) -> None:
    _deployed(stage)
    wait_for_nodes(stage.config, clients=stage.environment.clients)
    owner = Person(environment=stage.environment, home=tmp_path)
    shown = verify_commands()
    assert len(shown) == 7
    for command, output in shown.items():
        if command.startswith("aws sagemaker"):
            assert shape(owner.run(command).stdout) == output
        elif not command.startswith("aws"):
            assert shape(stage.tools.run(command)[1]) == output


@pytest.mark.slow(seconds=6)
def test_the_workshops_create_config_and_its_cluster_find_what_they_need(
    stage: Stage, tmp_path: Path
) -> None:
    _deployed(stage)
    owner = Person(environment=stage.environment, home=tmp_path)
    parts = [f"Stacks[0].Outputs[?OutputKey==`{key}`].OutputValue" for key in ENV_VARS.values()]
    query = f"--query '[{', '.join(parts)}]' --output text"
    shown = owner.run(f"aws cloudformation describe-stacks --stack-name ml-platform {query}")
    found = dict(zip(ENV_VARS, shown.stdout.splitlines(), strict=True))
    assert "" not in found.values()

    name = found["EKS_CLUSTER_NAME"]
    arn = owner.run(f"aws eks describe-cluster --name {name} --query cluster.arn --output text")
    assert arn.stdout.strip() == found["EKS_CLUSTER_ARN"]

    (tmp_path / "cluster-config.json").write_text(json.dumps(_workshop_cluster(found)), "utf-8")
    create = f"aws sagemaker create-cluster --cli-input-json file://{tmp_path}/cluster-config.json"
    # Whatever it names is there and fits: what is left is that the EKS cluster has a cluster.
    used = f"EKS cluster '{found['EKS_CLUSTER_ARN']}' is already used by HyperPod cluster"
    assert owner.run(create).stderr.strip().endswith(f"{used} 'ml-cluster'.")
    names = "--name-contains cluster --query ClusterSummaries[].ClusterName --output text"
    assert owner.run(f"aws sagemaker list-clusters {names}").stdout.split() == ["ml-cluster"]


def _workshop_cluster(values: Mapping[str, str]) -> dict[str, Any]:
    """Return the workshop's cluster-config.json with these values in place of its variables."""
    worker = {
        "InstanceCount": 1,
        "InstanceStorageConfigs": [{"EbsVolumeConfig": {"VolumeSizeInGB": 500}}],
        "LifeCycleConfig": {
            "SourceS3Uri": f"s3://{values['S3_BUCKET_NAME']}",
            "OnCreate": "on_create.sh",
        },
        "ExecutionRole": values["EXECUTION_ROLE"],
        "ThreadsPerCore": 1,
    }
    accelerated = {
        "InstanceGroupName": "worker-group-1",
        "InstanceType": "ml.g5.12xlarge",
        "OnStartDeepHealthChecks": ["InstanceStress", "InstanceConnectivity"],
    }
    general = {"InstanceGroupName": "worker-group-2", "InstanceType": "ml.m5.2xlarge"}
    return {
        "ClusterName": "workshop",
        "Orchestrator": {"Eks": {"ClusterArn": values["EKS_CLUSTER_ARN"]}},
        "InstanceGroups": [{**accelerated, **worker}, {**general, **worker}],
        "VpcConfig": {
            "SecurityGroupIds": [values["SECURITY_GROUP_ID"]],
            "Subnets": [values["PRIVATE_SUBNET_ID"]],
        },
        "NodeRecovery": "Automatic",
    }


def _made(
    stage: Stage,
    command: str,
    *options: str,
    monkeypatch: pytest.MonkeyPatch,
    capfd: pytest.CaptureFixture[str],
) -> tuple[int, str]:
    """Run what `deploy` or `destroy` runs, as the deployer; return code and output."""
    for name, value in {
        **stage.environment.aws.environment(),
        **stage.deployer.environment(),
        "PATH": os.pathsep.join([str(REPOSITORY / "node_modules" / ".bin"), os.environ["PATH"]]),
    }.items():
        monkeypatch.setenv(name, value)
    places = ("--templates", stage.work_directory / "cdk.out", "--config", stage.config_path)
    monkeypatch.setattr("sys.stdin", io.StringIO())
    monkeypatch.setattr(deployment, "REPORTS", stage.work_directory)
    capfd.readouterr()
    code = run(command, *places, *options)
    output, errors = capfd.readouterr()
    return code, output + errors


@pytest.mark.slow(seconds=6)
def test_make_deploy_follows_the_stacks_verifies_and_ends_with_their_outputs(
    stage: Stage, monkeypatch: pytest.MonkeyPatch, capfd: pytest.CaptureFixture[str]
) -> None:
    _deployed(stage)
    wait_for_nodes(stage.config, clients=stage.environment.clients)
    options = ["--only", "*-hyperpod", "--yes"]
    code, said = _made(stage, "deploy", *options, monkeypatch=monkeypatch, capfd=capfd)
    assert code == 0, said
    *changes, cost = said.splitlines()[:4]
    assert changes == [
        "This deployment changes:",
        "  ml-platform: no change",
        "  ml-hyperpod: no change",
    ]
    assert cost.startswith("A month of these stacks ")
    assert said.count("ml-cluster\n") == 1
    report = stage.work_directory / "ml" / "report.html"
    assert f"\nReport: {report}\n" in said
    assert "aws eks update-kubeconfig --name ml-eks" in "".join(said.splitlines()[-2:])
    # The deployer may look at all of AWS, and is not let into Kubernetes.
    absent = {"gpu partitions", "grafana", "node groups", "operators", "task governance"}
    there = {name: each for name, each in SUBJECTS.items() if name not in absent}
    unknown = ", ".join(name for name, each in there.items() if each.needs_kubernetes)
    refused = rf"\n\? {unknown}\n  .* 401 Unauthorized\n"
    assert re.search(refused, said), (
        "give each subject that looks into Kubernetes `needs_kubernetes`"
    )
    assert f"`hyperpod-cdk verify {stage.config_path} --region us-west-2`" in said
    assert "FAIL" not in said
    found = re.search(r"(\d+) of (\d+) checks hold;", said)
    assert found is not None and found[1] == found[2]
    assert " 401 Unauthorized</p>" in report.read_text("utf-8")

    eks = stage.environment.clients("eks")
    entry = {
        "clusterName": stage.config.eks_cluster_name,
        "principalArn": f"{_ACCOUNT}:user/{stage.deployer.user}",
    }
    eks.create_access_entry(**entry)
    policy = "arn:aws:eks::aws:cluster-access-policy/AmazonEKSClusterAdminPolicy"
    scope = {"type": "cluster"}
    eks.associate_access_policy(**entry, policyArn=policy, accessScope=scope)
    code, said = _made(stage, "deploy", *options, monkeypatch=monkeypatch, capfd=capfd)
    eks.delete_access_entry(**entry)
    found = re.search(r"\n(\d+) of (\d+) checks hold\.\n", said)
    assert code == 0 and found is not None, said
    assert found[1] == found[2]
    assert found[0].strip() in report.read_text("utf-8")


@pytest.mark.slow(seconds=4)
@pytest.mark.parametrize("change", CHANGES)
def test_a_refused_change_leaves_everything_as_it_was(stage: Stage, change: str) -> None:
    edit, reason = CHANGES[change]
    _deployed(stage)
    before = _network_and_files(stage)
    kinds: list[StackKind] = ["platform", "storage", "hyperpod"]
    statuses = {kind: stage.status(kind) for kind in kinds}

    stage.change(edit)
    told = stage.deploy()
    assert f"{reason}cannot be changed" in (told or "")
    stage.restore()
    if change == "zone of the file system":  # before that, the platform got a further subnet
        assert stage.deploy() is None
        statuses["platform"] = "UPDATE_COMPLETE"
    assert {kind: stage.status(kind) for kind in statuses} == statuses
    assert _network_and_files(stage) == before


@pytest.mark.slow(seconds=3)
def test_a_placeholder_for_the_chart_leaves_everything_as_it_was(stage: Stage) -> None:
    _deployed(stage)
    statuses = {kind: stage.status(kind) for kind in stack_names(stage.config)}
    chart = stage.chart

    stage.chart = ChartChoice(path=placeholder_chart().path, description="a placeholder")
    stage.change(_tagged)
    told = stage.deploy()
    stage.chart = chart
    stage.restore()

    assert "helm.chart: " in str(told)
    assert {kind: stage.status(kind) for kind in statuses} == statuses


@pytest.mark.slow(seconds=6)
def test_without_one_statement_a_destruction_fails_and_with_it_goes_on(
    stage: Stage, monkeypatch: pytest.MonkeyPatch, capfd: pytest.CaptureFixture[str]
) -> None:
    _deployed(stage)
    iam = stage.environment.clients("iam")
    (role,) = [
        each["RoleName"]
        for each in iam.list_roles()["Roles"]
        if "-ProvisionerProviderframeworkonEvent" in each["RoleName"]
    ]
    (name,) = iam.list_role_policies(RoleName=role)["PolicyNames"]
    document = iam.get_role_policy(RoleName=role, PolicyName=name)["PolicyDocument"]
    *others, last = document["Statement"]
    assert last["Action"] == "states:StartExecution"
    put = {"RoleName": role, "PolicyName": name}

    iam.put_role_policy(**put, PolicyDocument=json.dumps({**document, "Statement": others}))
    told = stage.destroy("hyperpod")
    assert "not authorized to perform: states:StartExecution" in (told or "")
    assert stage.status("hyperpod") == "DELETE_FAILED"

    iam.put_role_policy(**put, PolicyDocument=json.dumps(document))
    code, said = _made(stage, "destroy", "--yes", monkeypatch=monkeypatch, capfd=capfd)
    assert code == 0, said
    said = " ".join(said.split())
    assert f"HyperPodCluster {stage.config.cluster.name}" in said
    stay = "ml-platform, ml-storage, ml-addons, ml-observability"
    assert f"{stay}; " in said and "hyperpod-cdk destroy --all " in said
    assert "ml-hyperpod: DELETE_COMPLETE in " in said
    assert stage.status("hyperpod") is None

    # The local EKS gives up an update that no node runs: UPDATE_ROLLBACK_FAILED.
    template = stage.work_directory / "cdk.out" / "ml-addons.template.json"
    pinned = ADDON_VERSIONS[stage.config.eks.version]["coredns"]
    text = template.read_text("utf-8")
    assert pinned in text
    only = ("--only", "*-addons", "--yes")
    template.write_text(text.replace(pinned, "v1.12.3-eksbuild.1"), "utf-8")
    code, said = _made(stage, "deploy", *only, monkeypatch=monkeypatch, capfd=capfd)
    template.write_text(text, "utf-8")
    assert code == 0, said
    assert "\n  ml-platform: no change\n  ml-addons " in said
    assert said.endswith(" --only ml-addons\n")
    eks = stage.environment.clients("eks")
    asked = {"clusterName": stage.config.eks_cluster_name, "addonName": "coredns"}
    found = eks.describe_addon(**asked)["addon"]
    assert (found["addonVersion"], found["status"]) == (pinned, "DEGRADED")


def test_every_scenario_has_its_turn() -> None:
    played = [name for names in in_turn().values() for name in names]
    assert sorted(played) == sorted(SCENARIOS)
    files = {path.stem for path in Path(__file__).parent.glob("test_*.py")}
    assert {f"test_{path.stem.replace('-', '_')}" for path in SHIPPED} <= files


def test_the_documentation_lists_every_scenario() -> None:
    page = (REPOSITORY / "docs" / "rehearsal.md").read_text(encoding="utf-8")
    assert [name for name in SCENARIOS if f"| `{name}` |" not in page] == []
    # The table of all scenarios is the first.
    lines = [line for line in page.splitlines() if line.startswith("| `")]
    rows = {line.split("`")[1]: line for line in reversed(lines)}
    for name, scenario in SCENARIOS.items():
        told = ", ".join(f"`{message}`" for message in scenario.messages)
        found = rows[name]
        assert (f"; messages: {told} |" in found) if told else ("; messages:" not in found)
