"""`scale` as a whole: the file has the number when the deployment begins."""

from pathlib import Path
from types import SimpleNamespace

import pytest
import yaml

from hyperpod_cli.operate.scaling import command
from tests.support.commands import run

TEXT = (
    "name: ml\nregion: us-west-2\ncluster:\n  instance_groups:\n"
    "    - {name: worker, instance_type: ml.m5.2xlarge, instance_count: 1}\n"
)


class Chosen:
    """A cluster with one group of one node."""

    file = Path("mine.yaml")

    def found(self) -> SimpleNamespace:
        return SimpleNamespace(groups={"worker": {"TargetCount": 1, "CurrentCount": 1}})

    def command(self, *words: str) -> str:
        return " ".join(words)


@pytest.mark.parametrize(
    ("agrees", "code", "deployed", "counts", "result"),
    [
        (True, 0, True, [3, 3], 0),
        # The deployment changed nothing, so the file is as it was.
        (True, 1, True, [3, 1], 2),
        (False, 0, False, [1], 1),
    ],
)
def test_the_number_is_written_before_the_deployment(
    monkeypatch: pytest.MonkeyPatch,
    tmp_path: Path,
    *,
    agrees: bool,
    code: int,
    deployed: bool,
    counts: list[int],
    result: int,
) -> None:
    file = tmp_path / "mine.yaml"
    file.write_text(TEXT, "utf-8")
    seen: list[int] = []

    def count() -> int:
        groups = yaml.safe_load(file.read_text("utf-8"))["cluster"]["instance_groups"]
        return int(groups[0]["instance_count"])

    def deploy(_command: object, *, folder: Path) -> int:
        assert folder == Path.cwd()
        seen.append(count())
        return code

    monkeypatch.setattr(command, "chosen_cluster", lambda *_, **__: Chosen())
    monkeypatch.setattr(command, "refuse_pending", lambda *_, **__: None)
    monkeypatch.setattr(command, "deploy", deploy)
    monkeypatch.setattr(command, "is_undone", lambda *_, **__: True)
    monkeypatch.setattr(command, "agreed", lambda _question, *, yes: agrees and not yes)

    assert run("scale", "worker", "3", "--config", file) == result
    assert bool(seen) is deployed
    assert [*seen, count()] == counts
