"""config/examples/operators.yaml, and what `hyp`, HyperPod's command line, does with it."""

import json
import os
import shutil
import subprocess
from pathlib import Path
from typing import Any

import pytest

from hyperpod_cdk.eks.access import access_by_principal
from hyperpod_cdk.eks.section import EditorsConfig, EksConfig
from hyperpod_cdk.synthesis.assets import asset_directory
from hyperpod_cli.operate.job_charts import rendered
from hyperpod_rehearsal.stage import Stage
from tests.support.aws_cli import Person
from tests.support.commands import run
from tests.support.configs import CONFIG_FOLDER
from tests.support.scenario_tests import test_it_deploys_and_holds_what_is_verified
from tests.support.shell_blocks import shell_blocks

__all__ = ["test_it_deploys_and_holds_what_is_verified"]

EXAMPLES = ["operators"]
HYP = CONFIG_FOLDER.parent / ".venv" / "hyp" / "bin" / "hyp"
CDK = CONFIG_FOLDER.parent / "node_modules" / ".bin"
POLICY = "arn:aws:eks::aws:cluster-access-policy/"
LOOK = f"{POLICY}AmazonEKSAdminViewPolicy"
# After each command hyp tells AWS of its use, which a rehearsal keeps to itself.
NOWHERE = "HTTPS_PROXY=http://127.0.0.1:9 NO_PROXY=127.0.0.1,localhost"
PAGE = CONFIG_FOLDER.parent / "docs" / "operators.md"


def policy() -> str:
    """Return the IAM policy that the page gives to those who run hyp."""
    return PAGE.read_text("utf-8").partition("```json\n")[2].partition("```")[0]


def commands() -> list[str]:
    """Return the page's commands of hyp, without the name of the program."""
    (block,) = (each.commands for each in shell_blocks() if each.page == "docs/operators.md")
    return [line.removeprefix("hyp ") for line in block.replace("\\\n", "").splitlines()]


@pytest.fixture
def engineer(stage: Stage, tmp_path: Path) -> Person:
    """The admin of the example, who may do no more in AWS than the docs say."""
    assert HYP.is_file(), "make setup-hyp installs it"
    iam: Any = stage.environment.clients("iam")
    iam.put_user_policy(UserName="engineer", PolicyName="Hyp", PolicyDocument=policy())
    return Person(environment=stage.environment, home=tmp_path, user="engineer")


def tried(person: Person, command: str) -> subprocess.CompletedProcess[str]:
    return person.run(f"{NOWHERE} {HYP} {command}")


def hyp(person: Person, command: str) -> str:
    done = tried(person, command)
    assert done.returncode == 0, (command, done.stdout, done.stderr)
    return done.stdout + done.stderr


def jobs(stage: Stage) -> dict[str, Any]:
    ok, said = stage.tools.run("kubectl get hyperpodpytorchjobs -o json")
    assert ok, said
    return {item["metadata"]["name"]: item["spec"] for item in json.loads(said)["items"]}


@pytest.mark.slow(seconds=1)
def test_the_training_operator_may_look_at_the_nodes(stage: Stage) -> None:
    clients = stage.environment.clients
    (association,) = clients("eks").list_pod_identity_associations(clusterName="operators-eks")[
        "associations"
    ]
    arn = stage.outputs()["operators-hyperpod"]["HyperPodClusterArn"]

    assert association["namespace"] == "aws-hyperpod"
    assert association["serviceAccount"] == "hp-training-operator-controller-manager"
    assert {"Key": "SageMaker", "Value": "true"} in clients("sagemaker").list_tags(ResourceArn=arn)[
        "Tags"
    ]


@pytest.mark.slow(seconds=20)
def test_the_documented_commands_of_hyp_run_a_job(stage: Stage, engineer: Person) -> None:
    connect, list_cluster, create, list_jobs, describe, delete = commands()

    hyp(engineer, connect)
    assert ":cluster/operators-eks\n" in hyp(engineer, "get-cluster-context")

    (listed,) = json.loads(tried(engineer, list_cluster).stdout)
    types = {each["InstanceType"]: each for each in listed["Instances"]}
    free = {name: each["AcceleratorDevicesAvailable"] for name, each in types.items()}
    assert listed["Cluster"] == "operators-cluster"
    assert free == {"ml.g5.12xlarge": 4, "ml.m5.4xlarge": "N/A"}

    said = hyp(engineer, create)
    assert "Successfully submitted HyperPodPytorchJob 'first'!" in said
    assert "Failed to verify" not in said
    job = jobs(stage)["first"]
    (replicas,) = job["replicaSpecs"]
    (container,) = replicas["template"]["spec"]["containers"]
    assert (job["nprocPerNode"], replicas["replicas"]) == ("4", 1)
    assert job["runPolicy"]["jobMaxRetryCount"] == 3
    assert container["command"][:2] == ["hyperpodrun", "--nnodes=1"]
    assert container["resources"]["limits"]["nvidia.com/gpu"] == 4

    rows = [line.split()[:2] for line in hyp(engineer, list_jobs).splitlines()]
    assert ["first", "default"] in rows
    described = hyp(engineer, describe)
    assert "Processes per Node: 4" in described
    assert container["image"] in described

    hyp(engineer, delete)
    assert jobs(stage) == {}
    gone = tried(engineer, describe)
    assert gone.returncode != 0
    assert "first" in gone.stdout + gone.stderr


@pytest.mark.slow(seconds=2)
def test_an_editor_submits_the_charts_job(stage: Stage, tmp_path: Path) -> None:
    eks = stage.environment.clients("eks")
    iam: Any = stage.environment.clients("iam")
    arn = iam.create_user(UserName="researcher")["User"]["Arn"]
    entry = {"clusterName": "operators-eks", "principalArn": arn}
    eks.create_access_entry(**entry)
    editors = EditorsConfig(namespaces=("default",), principals=(arn,))
    for access in access_by_principal(EksConfig(editors=(editors,)))[arn]:
        scope = {"type": "namespace", "namespaces": [*access.namespaces]}
        eks.associate_access_policy(
            **entry, policyArn=f"{POLICY}{access.policy}", accessScope=scope
        )
    look = {"Effect": "Allow", "Action": "eks:DescribeCluster", "Resource": "*"}
    document = json.dumps({"Version": "2012-10-17", "Statement": [look]})
    iam.put_user_policy(UserName="researcher", PolicyName="Look", PolicyDocument=document)
    person = Person(environment=stage.environment, home=tmp_path, user="researcher")
    objects = rendered(
        "training",
        name="chart",
        namespace="default",
        values={"image": "registry.invalid/x:1"},
        files=[asset_directory("charts") / "training/values/hyperpod-pytorch-job.yaml"],
    )
    (job,) = (one for one in objects if one["kind"] == "HyperPodPyTorchJob")
    (tmp_path / "job.json").write_text(json.dumps(job), "utf-8")

    for command in (
        "aws eks update-kubeconfig --name operators-eks",
        f"kubectl apply --server-side -f {tmp_path}/job.json",
    ):
        done = person.run(command)
        assert done.returncode == 0, (command, done.stdout, done.stderr)
    kept = jobs(stage)["chart"]
    assert kept["replicaSpecs"][0]["replicas"] == job["spec"]["replicaSpecs"][0]["replicas"]
    assert kept["runPolicy"] == job["spec"]["runPolicy"]
    done = person.run("kubectl delete hyperpodpytorchjob chart")
    assert done.returncode == 0, done.stderr


@pytest.mark.slow(seconds=15)
def test_jobs_outlive_the_nodes(
    stage: Stage, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    spec = {"nprocPerNode": "8", "replicaSpecs": []}
    kept = {
        "apiVersion": "sagemaker.amazonaws.com/v1",
        "kind": "HyperPodPyTorchJob",
        "metadata": {"name": "kept", "namespace": "default"},
        "spec": spec,
    }
    file = tmp_path / "job.json"
    file.write_text(json.dumps(kept), "utf-8")
    assert stage.tools.run(f"kubectl create -f {file}")[0]
    eks = stage.environment.clients("eks")
    deployer = f"arn:aws:iam::{stage.environment.aws.account}:user/{stage.deployer.user}"
    entry = {"clusterName": "operators-eks", "principalArn": deployer}
    eks.create_access_entry(**entry)
    eks.associate_access_policy(**entry, policyArn=LOOK, accessScope={"type": "cluster"})
    for name, value in {
        **stage.environment.aws.environment(),
        **stage.deployer.environment(),
        "PATH": os.pathsep.join([str(CDK), os.environ["PATH"]]),
    }.items():
        monkeypatch.setenv(name, value)

    # The training operator's pods are nobody's loss.
    assert run("deletion-check", "--config", stage.config_path) == 0
    # What is deployed goes, also what the templates have no more.
    templates = tmp_path / "cdk.out"
    shutil.copytree(stage.work_directory / "cdk.out", templates)
    manifest = json.loads((templates / "manifest.json").read_text("utf-8"))
    del manifest["artifacts"]["operators-operators"]
    (templates / "manifest.json").write_text(json.dumps(manifest), "utf-8")
    places = ("--templates", templates, "--config", stage.config_path)
    assert run("destroy", "--yes", *places) == 0
    assert (stage.status("operators"), stage.status("hyperpod")) == (None, None)
    assert stage.status("addons") == "CREATE_COMPLETE"
    assert stage.deploy() is None

    for name in (addon.name for addon in stage.config.operators.addons):
        found = eks.describe_addon(clusterName="operators-eks", addonName=name)["addon"]
        assert (name, found["status"]) == (name, "ACTIVE")
    assert jobs(stage) == {"kept": spec}
