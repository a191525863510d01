"""The command line of `init`: questions, flags, refusals, and that nothing else is written."""

import os
import pty
import subprocess
import sys
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any, Protocol

import boto3
import pytest
from botocore.exceptions import NoCredentialsError
from syrupy.assertion import SnapshotAssertion

from hyperpod_cdk import Config, load_config
from hyperpod_cli.deliver import new_file
from hyperpod_cli.deliver.init.questions import (
    ADMIN,
    QUESTIONS,
    AnswerError,
    answered,
    calling_principal,
    known_zones,
)
from hyperpod_cli.deliver.init.template import default_answers
from hyperpod_cli.inspect.cost import cost_here, summary
from tests.conftest import Raises
from tests.support.commands import Said, ran
from tests.support.configs import REPOSITORY
from tests.support.patience import PATIENCE_SECONDS

DEFAULTS = {
    question.key: question.given(default_answers())
    for question in QUESTIONS
    if question.key != ADMIN
}
SESSION = "arn:aws:sts::111122223333:assumed-role/Platform/me"
ROLE = "arn:aws:iam::111122223333:role/team/Platform"


class Account:
    """STS and IAM of an account, asked with the credentials of somebody, or with none."""

    def __init__(self, caller: str | None) -> None:
        self._caller = caller

    def get_caller_identity(self) -> Mapping[str, Any]:
        if self._caller is None:
            raise NoCredentialsError
        return {"Arn": self._caller}

    def get_role(self, *, RoleName: str) -> Mapping[str, Any]:
        assert RoleName == "Platform"
        return {"Role": {"Arn": ROLE}}


class Run(Protocol):
    """The command line, without a terminal."""

    def __call__(self, given: Mapping[str, str], *, name: str = "mine.yaml") -> Said:
        """Run it with answers and the name of the file; an empty one leaves the choice to it."""


class Dialogue(Protocol):
    """Somebody at the terminal."""

    def __call__(self, *answers: str | type[BaseException]) -> list[str]:
        """Answer, and return what is asked, question by question."""


@pytest.fixture
def run(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> Run:
    """Return a function that runs the command line on a file, without a terminal."""

    def runs(given: Mapping[str, str], *, name: str = "mine.yaml") -> Said:
        options = [word for key, value in given.items() for word in (key, value)]
        config: list[str | Path] = ["--config", tmp_path / name] if name else []
        return ran("init", *config, *options)

    monkeypatch.setattr("sys.stdin.isatty", lambda: False, raising=False)
    return runs


@pytest.fixture
def dialogue(monkeypatch: pytest.MonkeyPatch) -> Dialogue:
    """Return a function that sits at the terminal with answers, and keeps what it is asked."""

    def sits(*answers: str | type[BaseException]) -> list[str]:
        left, asked = list(answers), []

        def answer(prompt: str) -> str:
            asked.append(prompt)
            said = left.pop(0)
            if isinstance(said, str):
                return said
            raise said

        monkeypatch.setattr("sys.stdin.isatty", lambda: True, raising=False)
        monkeypatch.setattr("builtins.input", answer)
        return asked

    return sits


def test_flags_write_a_file_and_say_what_it_deploys_and_costs(run: Run, tmp_path: Path) -> None:
    given = {
        **DEFAULTS,
        "--name": "team",
        "--type": "ml.p4d.24xlarge",
        "--count": "2",
        "--storage": "None",
    }
    code, out, error = run(given, name="my file.yaml")
    assert (code, error) == (0, "")
    config = load_config(tmp_path / "my file.yaml")
    assert (config.name, config.storage) == ("team", None)
    assert f"Wrote {tmp_path}/my file.yaml. It deploys:\n  team-platform " in out
    assert summary(cost_here(config)) in out
    assert f"  hyperpod-cdk deploy '{tmp_path}/my file.yaml'" in out
    assert {path.name for path in tmp_path.iterdir()} == {
        "hyperpod-cdk.schema.json",
        "my file.yaml",
    }


@pytest.mark.parametrize(
    ("key", "text"),
    [
        ("--name", "ML"),
        ("--name", "'\U00010000"),
        ("--name", "a: b"),
        ("--name", "x\ny"),
        ("--region", "us-west2"),
        ("--zones", "usw2-az8"),
        ("--zones", "use1-az1"),
        ("--zones", "usw2-az1]"),
        ("--zones", "usw2-az1 usw2-az1"),
        ("--zones", "usw2-az1,usw2-az2,usw2-az3"),
        ("--type", "ml.p5.48xlrge"),
        ("--type", "p5"),
        ("--count", "-1"),
        ("--count", "many"),
        ("--count", "1 # one"),
        ("--storage", "1300"),
        ("--storage", "big"),
    ],
)
def test_a_bad_answer_is_refused_in_the_schemas_words(
    run: Run, tmp_path: Path, key: str, text: str, snapshot: SnapshotAssertion
) -> None:
    code, out, error = run({**DEFAULTS, key: text})
    assert (code, out, error.count("\n")) == (2, "", 1)
    assert error == snapshot
    assert list(tmp_path.iterdir()) == []


@pytest.mark.parametrize(
    "changes",
    [
        {"--type": "ml.p5.48xlarge", "--count": "6000"},
        # Without a file system it has room for its DaemonSets.
        {"--type": "ml.m6g.medium"},
    ],
)
def test_an_answer_is_refused_with_those_before_it(
    run: Run, changes: Mapping[str, str], snapshot: SnapshotAssertion
) -> None:
    code, _, error = run({**DEFAULTS, **changes})
    assert code == 2
    assert error == snapshot
    assert run({**DEFAULTS, **changes, "--count": "1", "--storage": "none"})[0] == 0


def test_without_a_question_all_that_is_wrong_is_told_at_once(run: Run) -> None:
    wrong = {
        "--name": "ML",
        "--region": "us-west2",
        "--zones": "use1-az9",
        "--type": "p5",
        "--count": "-1",
    }
    code, out, error = run({**DEFAULTS, **wrong})
    assert (code, out) == (2, "")
    # Which zones there are is not known without the region.
    keys = [line.partition(":")[0] for line in error.splitlines()]
    assert keys == ["--name", "--region", "--type", "--count"]


def test_a_file_that_is_there_stays(run: Run, tmp_path: Path, snapshot: SnapshotAssertion) -> None:
    (tmp_path / "mine.yaml").write_text("mine")
    code, out, error = run({})
    assert (code, out) == (2, "")
    assert error.replace(str(tmp_path), "TMP") == snapshot
    assert (tmp_path / "mine.yaml").read_text() == "mine"


def test_the_file_is_named_after_the_deployment(run: Run) -> None:
    code, _, error = run({**DEFAULTS, "--name": "trainium"}, name="")
    assert (code, error.split(":")[0]) == (2, "config/trainium.yaml")


def test_a_folder_that_is_not_there_is_told(
    run: Run, tmp_path: Path, snapshot: SnapshotAssertion
) -> None:
    code, _, error = run(DEFAULTS, name="none/mine.yaml")
    assert code == 2
    assert error.replace(str(tmp_path), "TMP") == snapshot


def test_without_a_terminal_the_missing_answers_are_named(
    run: Run, snapshot: SnapshotAssertion
) -> None:
    given = {key: value for key, value in DEFAULTS.items() if key not in ("--zones", "--storage")}
    code, out, error = run(given)
    assert (code, out) == (2, "")
    assert error == snapshot


def test_a_dialogue_asks_again_and_shows_the_defaults(
    run: Run, dialogue: Dialogue, tmp_path: Path, snapshot: SnapshotAssertion
) -> None:
    asked = dialogue("team", "us-eats-1", "us-east-1", "", "ml.p5.48xlarge", "none", "me", ROLE)
    code, out, error = run({"--count": "2"})
    assert (code, error) == (0, "")
    # Without the zone that EKS does not take.
    assert asked == snapshot
    assert out.partition("\nWrote")[0] == snapshot
    config = load_config(tmp_path / "mine.yaml")
    assert config.network.availability_zone_ids == ("use1-az1", "use1-az2")
    assert config.network.hyperpod_zone_ids == ("use1-az2",)
    assert config.cluster.instance_groups[0].instance_count == 2
    assert config.eks.admins == (ROLE,)


def test_the_default_admin_is_who_asks(
    run: Run, dialogue: Dialogue, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(boto3, "client", lambda *_, **__: Account(SESSION))
    asked = dialogue("")
    assert run(DEFAULTS)[0] == 0
    assert asked[0].endswith(f"[{ROLE}]: ")
    assert load_config(tmp_path / "mine.yaml").eks.admins == (ROLE,)


def test_an_admin_is_given_without_a_terminal(run: Run, tmp_path: Path) -> None:
    assert run({**DEFAULTS, "--admin": ROLE})[0] == 0
    assert load_config(tmp_path / "mine.yaml").eks.admins == (ROLE,)
    code, _, error = run({**DEFAULTS, "--admin": ROLE, "--orchestrator": "slurm"}, name="s.yaml")
    assert (code, error.partition(":")[0]) == (2, "--admin")


def test_slurm_has_no_admin_to_ask_for(run: Run, dialogue: Dialogue) -> None:
    assert dialogue() == []
    assert run({**DEFAULTS, "--orchestrator": "slurm"})[0] == 0


@pytest.mark.parametrize(
    ("caller", "principal"),
    [
        (SESSION, ROLE),
        ("arn:aws:iam::111122223333:user/me", "arn:aws:iam::111122223333:user/me"),
        ("arn:aws:iam::111122223333:root", None),
        (None, None),
    ],
)
def test_the_caller_is_a_role_or_a_user(
    monkeypatch: pytest.MonkeyPatch, caller: str | None, principal: str | None
) -> None:
    monkeypatch.setattr(boto3, "client", lambda *_, **__: Account(caller))
    assert calling_principal("us-west-2") == principal


@pytest.mark.parametrize("interruption", [KeyboardInterrupt, EOFError])
def test_an_interrupted_dialogue_leaves_nothing(
    run: Run, dialogue: Dialogue, tmp_path: Path, interruption: type[BaseException]
) -> None:
    dialogue("", "", interruption)
    code, _, error = run({})
    assert (code, error) == (130, "\nNothing is written.\n")
    assert list(tmp_path.iterdir()) == []


def test_an_interrupted_check_leaves_nothing(
    run: Run, monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    def interrupted(path: Path) -> Config:
        assert path.exists()
        raise KeyboardInterrupt

    monkeypatch.setattr(new_file, "load_config", interrupted)
    code, _, _ = run(DEFAULTS)
    assert code == 130
    assert list(tmp_path.iterdir()) == []


def zones_of(text: str) -> tuple[str, ...]:
    """Return the zones that an answer comes to."""
    (question,) = [question for question in QUESTIONS if question.key == "--zones"]
    return answered(question, text, answers=default_answers(), path=Path("mine.yaml")).zones


@pytest.mark.parametrize(
    ("zones", "ids"),
    [("usw2-az4", ("usw2-az4", "usw2-az1")), ("usw2-az1", ("usw2-az1", "usw2-az2"))],
)
def test_one_zone_gets_another_one_beside_it(zones: str, ids: tuple[str, ...]) -> None:
    assert zones_of(zones) == ids


class Ec2:
    """EC2, in an account whose letters begin with the second zone."""

    def describe_availability_zones(self, *, ZoneNames: list[str]) -> Mapping[str, Any]:
        ids = {"us-west-2a": "usw2-az2", "us-west-2c": "usw2-az3"}
        return {
            "AvailabilityZones": [{"ZoneName": name, "ZoneId": ids[name]} for name in ZoneNames]
        }


def test_names_of_zones_are_looked_up_in_the_account(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(boto3, "client", lambda *_, **__: Ec2())
    assert zones_of("c, us-west-2a") == ("usw2-az3", "usw2-az2")


def test_a_name_of_a_zone_needs_credentials(
    monkeypatch: pytest.MonkeyPatch, raises: Raises
) -> None:
    def refused(*_: object, **__: object) -> None:
        raise NoCredentialsError

    monkeypatch.setattr(boto3, "client", refused)
    with raises(AnswerError):
        zones_of("b")


@pytest.mark.parametrize(
    ("region", "zones"),
    [
        ("us-west-1", ["usw1-az1", "usw1-az3"]),
        ("ca-central-1", ["cac1-az1", "cac1-az2", "cac1-az4"]),
        ("us-west2", []),
    ],
)
def test_the_zones_of_a_region_are_those_that_eks_takes(region: str, zones: list[str]) -> None:
    assert known_zones(region) == zones


@pytest.fixture
def terminal() -> Iterator[tuple[int, int]]:
    """Return both ends of a terminal."""
    ends = pty.openpty()
    yield ends
    for end in ends:
        os.close(end)


def test_a_person_at_a_terminal_gets_a_file(tmp_path: Path, terminal: tuple[int, int]) -> None:
    person, screen = terminal
    os.write(person, b"team\n\n\nml.m5.4xlarge\n3\n\nnone\n")
    path = tmp_path / "mine.yaml"
    done = subprocess.run(
        [sys.executable, "-m", "hyperpod_cli", "init", "--config", str(path)],
        cwd=REPOSITORY,
        stdin=screen,
        capture_output=True,
        text=True,
        check=False,
        timeout=PATIENCE_SECONDS,
    )
    assert (done.returncode, done.stderr) == (0, "")
    config = load_config(path)
    assert (config.name, config.cluster.instance_groups[0].instance_count) == ("team", 3)
