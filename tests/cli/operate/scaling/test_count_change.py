"""Another number of nodes in the text of a configuration; the rest of it stays."""

from pathlib import Path

import pytest

from hyperpod_cdk import ConfigError, load_config
from hyperpod_cli.operate.scaling.change import count_change
from hyperpod_cli.terminal.errors import OpsError
from tests.support.configs import SHIPPED

BASE = "name: ml\nregion: us-west-2\ncluster:\n"
# The groups, and what they become with 3 nodes in group `b`.
CASES = {
    "block": (
        "  instance_groups:\n    - name: b # first\n      instance_type: ml.m5.2xlarge\n"
        "      instance_count:   1  # one\n",
        "instance_count:   3  # one\n",
    ),
    "flow": (
        "  instance_groups: [{name: b, instance_type: ml.m5.2xlarge, instance_count: 1}]\n",
        "{name: b, instance_type: ml.m5.2xlarge, instance_count: 3}]",
    ),
    "quoted key": (
        "  instance_groups: [{name: b, instance_type: ml.m5.2xlarge, 'instance_count' : 1}]\n",
        "'instance_count' : 3}",
    ),
    "alias": (
        "  instance_groups:\n    - {name: a, instance_type: ml.m5.2xlarge, instance_count: &n 1}\n"
        "    - {name: b, instance_type: ml.m5.2xlarge, instance_count: *n}\n",
        "instance_count: &n 1}\n    - {name: b, instance_type: ml.m5.2xlarge, instance_count: 3}",
    ),
    "anchor of nobody else": (
        "  instance_groups: [{name: b, instance_type: ml.m5.2xlarge, instance_count: &n 1}]\n",
        "instance_count: &n 3}",
    ),
    "merge key, block": (
        "  instance_groups:\n    - &a\n      name: a\n      instance_type: ml.m5.2xlarge\n"
        "      instance_count: 1\n    - <<: *a\n      name: b # second\n",
        "    - <<: *a\n      name: b # second\n      instance_count: 3\n",
    ),
    "merge key, flow": (
        "  instance_groups:\n    - &a {name: a, instance_type: ml.m5.2xlarge, instance_count: 1}\n"
        "    - {<<: *a, name: b}\n",
        "    - {<<: *a, name: b, instance_count: 3}\n",
    ),
    "no newline at the end": (
        "  instance_groups:\n    - &a\n      name: a\n      instance_type: ml.m5.2xlarge\n"
        "      instance_count: 1\n    - <<: *a\n      name: b",
        "      name: b\n      instance_count: 3",
    ),
}
SHARED = (
    "  instance_groups:\n    - {name: b, instance_type: ml.m5.2xlarge, instance_count: &n 1}\n"
    "    - {name: a, instance_type: ml.m5.2xlarge, instance_count: *n}\n"
)


@pytest.fixture
def file(tmp_path: Path) -> Path:
    """Return where a configuration is put."""
    return tmp_path / "mine.yaml"


@pytest.mark.parametrize("newline", ["\n", "\r\n"])
@pytest.mark.parametrize("case", CASES)
def test_layout_anchors_and_comments_stay(file: Path, case: str, newline: str) -> None:
    groups, expected = (text.replace("\n", newline) for text in CASES[case])
    file.write_text(BASE.replace("\n", newline) + groups, "utf-8", newline="")

    change = count_change(file, group="b", count=3)
    change.write()

    assert expected in file.read_bytes().decode()
    counts = {group.name: group.instance_count for group in load_config(file).cluster.all_groups}
    assert counts in ({"b": 3}, {"a": 1, "b": 3})
    change.take_back()
    assert file.read_bytes().decode() == BASE.replace("\n", newline) + groups
    assert [*file.parent.iterdir()] == [file]


@pytest.mark.parametrize("path", SHIPPED, ids=lambda path: path.stem)
def test_one_line_of_a_shipped_configuration_changes(path: Path) -> None:
    group = load_config(path).cluster.all_groups[-1]

    diff = [*count_change(path, group=group.name, count=group.instance_count + 1).diff()]

    changed = [line for line in diff[2:] if line[0] in "+-"]
    assert len(changed) == 2
    assert (
        changed[0].replace(f" {group.instance_count}", " N")[1:]
        == (changed[1].replace(f" {group.instance_count + 1}", " N")[1:])
    )


def test_what_cannot_be_changed_is_told_and_left(file: Path) -> None:
    text = BASE + SHARED
    file.write_text(text, "utf-8")

    with pytest.raises(OpsError, match=r"also that of another group \(an anchor\)"):
        count_change(file, group="b", count=3)
    with pytest.raises(OpsError, match=r"group: 'c' is not there; it has b, a"):
        count_change(file, group="c", count=3)
    with pytest.raises(ConfigError, match=r"mine\.yaml:6: .*instance_count: 99999999 must be"):
        count_change(file, group="a", count=99999999)
    change = count_change(file, group="a", count=2)
    file.write_text(text + "# mine\n", "utf-8")
    with pytest.raises(OpsError, match="was changed by somebody else meanwhile"):
        change.write()
    assert file.read_text("utf-8") == text + "# mine\n"
    assert [*file.parent.iterdir()] == [file]
