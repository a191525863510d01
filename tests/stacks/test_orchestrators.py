"""One configuration for two orchestrators: how little differs, and how a switch is refused."""

from collections.abc import Iterator
from difflib import ndiff

from hyperpod_cdk import load_config
from tests.conftest import Assemble
from tests.support.configs import CONFIG_FOLDER

DEFAULT, SLURM = (CONFIG_FOLDER / name for name in ("default.yaml", "slurm.yaml"))
# Sections that Slurm does not have: to leave one out is no line that a user writes.
OF_EKS = ("eks", "helm")
MOST_LINES = 10


def settings(text: str) -> Iterator[str]:
    """Yield the lines of a configuration without comments, and without sections of EKS."""
    section = ""
    for line in text.splitlines():
        setting = line.partition("#")[0].rstrip()
        if setting and not setting.startswith(" "):
            section = setting.partition(":")[0]
        if setting and section not in OF_EKS:
            yield setting


def test_at_most_ten_lines_differ() -> None:
    default, slurm = (list(settings(path.read_text("utf-8"))) for path in (DEFAULT, SLURM))

    differing = [line for line in ndiff(default, slurm) if line.startswith(("+ ", "- "))]

    assert 0 < len(differing) <= MOST_LINES, "\n".join(differing)


def test_cloudformation_refuses_a_switch_before_it_touches_anything(assemble: Assemble) -> None:
    for path, orchestrator in ((DEFAULT, "eks"), (SLURM, "slurm")):
        template = assemble(load_config(path)).templates()["ml-platform"]
        (deployed,) = (
            name
            for name, each in template["Parameters"].items()
            if each.get("Description", "").startswith("cluster.orchestrator ")
        )
        (assertion,) = next(
            rule["Assertions"] for name, rule in template["Rules"].items() if deployed in str(rule)
        )

        assert template["Parameters"][deployed]["Default"] == orchestrator
        assert assertion["Assert"] == {"Fn::Equals": [{"Ref": deployed}, orchestrator]}
        assert assertion["AssertDescription"].startswith("cluster.orchestrator: ")
