"""config/examples/access.yaml."""

import json
import re
from pathlib import Path
from typing import Any

import pytest

from hyperpod_rehearsal.stage import Stage
from tests.support.aws_cli import Person
from tests.support.configs import REPOSITORY
from tests.support.scenario_tests import test_it_deploys_and_holds_what_is_verified
from tests.support.shell_blocks import ELSEWHERE, blocks, matches

__all__ = ["test_it_deploys_and_holds_what_is_verified"]

EXAMPLES = ["access"]
_ON_THE_HOST = """--overrides='{"spec": {"hostNetwork": true}}'"""


def _person(name: str, *, stage: Stage, home: Path) -> Person:
    """Return a user of the example, who may do no more in AWS than to find the cluster."""
    describe = {"Effect": "Allow", "Action": "eks:DescribeCluster", "Resource": "*"}
    allowed = json.dumps({"Version": "2012-10-17", "Statement": [describe]})
    clients = stage.environment.clients
    clients("iam").put_user_policy(UserName=name, PolicyName="Look", PolicyDocument=allowed)
    home.mkdir()
    person = Person(environment=stage.environment, home=home, user=name)
    configured = person.run("aws eks update-kubeconfig --name access-eks")
    assert configured.returncode == 0, configured.stderr
    return person


@pytest.mark.slow(seconds=8)
def test_each_principal_may_do_what_its_lists_say(stage: Stage, tmp_path: Path) -> None:
    assert stage.tools.run("kubectl -n hyperpod-team-a create configmap settings")[0]
    auditor, researcher = (
        _person(name, stage=stage, home=tmp_path / name) for name in ("auditor", "researcher")
    )
    may: list[tuple[Person, str]] = [
        (auditor, "kubectl get pods,configmaps -A"),
        (researcher, "kubectl get pods,configmaps -A"),
        (researcher, "kubectl -n hyperpod-team-a create secret generic token"),
        (researcher, "kubectl -n hyperpod-team-a auth can-i create pytorchjobs.kubeflow.org"),
        (researcher, "kubectl -n hyperpod-team-a auth can-i create mpijobs.kubeflow.org"),
        (researcher, "kubectl -n hyperpod-team-a delete configmap settings"),
    ]
    may_not = [
        (auditor, "kubectl -n hyperpod-team-a delete configmap settings"),
        (auditor, "kubectl -n hyperpod-team-a get secrets"),
        (auditor, "kubectl get nodes"),
        (researcher, "kubectl create configmap settings"),
        (researcher, "kubectl -n kube-system get secrets"),
        (researcher, "kubectl delete namespace hyperpod-team-a"),
    ]

    for person, command in may_not:
        assert "is forbidden: User" in person.run(command).stderr, (person.user, command)
    for person, command in may:
        done = person.run(command)
        assert done.returncode == 0, (person.user, command, done.stderr)
    start = "kubectl -n hyperpod-team-a run one --image=one"
    assert "hostNetwork" in researcher.run(f"{start} {_ON_THE_HOST}").stderr
    assert researcher.run(start).returncode == 0


_PAGE = "docs/run-a-job.md"
_MANIFEST = re.compile(r"^```yaml\n# (\S+\.yaml)\n(.*?)^```$", re.MULTILINE | re.DOTALL)


@pytest.mark.slow(seconds=8)
def test_an_editor_runs_jobs_as_the_page_says(stage: Stage, tmp_path: Path) -> None:
    page = REPOSITORY / _PAGE
    home = tmp_path / "researcher"
    researcher = _person("researcher", stage=stage, home=home)
    for name, text in _MANIFEST.findall(page.read_text("utf-8")):
        (home / name).write_text(text, "utf-8")
    run = [each for each in blocks(page) if (_PAGE, each.commands.splitlines()[0]) in ELSEWHERE]

    assert len(run) == sum(name == _PAGE for name, _ in ELSEWHERE)
    for block in run:
        if "get nodes" in block.commands:  # for admins
            ok, printed = stage.tools.run(block.commands.replace("\\\n", ""))
        else:
            (home / "block.sh").write_text(block.commands, "utf-8")
            done = researcher.run(f"cd {home} && echo typed | bash block.sh 2>&1")
            ok, printed = done.returncode == 0, done.stdout
        assert ok, (block.commands, printed)
        assert not block.shown or matches(block.shown, printed), (block.commands, printed)


@pytest.mark.slow(seconds=1)
def test_the_nodes_read_the_data_and_do_not_write_it(stage: Stage) -> None:
    role = stage.outputs()["access-platform"]["SageMakerIAMRoleArn"]
    iam: Any = stage.environment.clients("iam")
    name = role.rpartition("/")[2]
    (policy,) = iam.list_role_policies(RoleName=name)["PolicyNames"]
    document = iam.get_role_policy(RoleName=name, PolicyName=policy)["PolicyDocument"]

    data = "arn:aws:s3:::training-data-111122223333"
    of_data = {
        statement["Action"]: statement["Resource"]
        for statement in document["Statement"]
        if data in json.dumps(statement["Resource"])
    }
    assert of_data == {"s3:ListBucket": data, "s3:GetObject": f"{data}/tokenized/*"}
