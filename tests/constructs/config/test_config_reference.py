"""docs/configuration.md, the page of every key."""

import itertools
import re

import pytest

from tools.generate.pages import config_reference

(PAGE,) = config_reference.render().values()


def test_the_page_has_nested_sections() -> None:
    assert "## `cluster.instance_groups[]`" in PAGE
    assert "| `instance_count` | integer | required |" in PAGE


def test_each_section_has_one_table() -> None:
    paths = re.findall(r"^(?:## |The same: )(`.+`)\.?$", PAGE, re.MULTILINE)
    named = [path for line in paths for path in line.split(", ")]
    assert "`cluster.restricted_instance_groups[].ebs_volumes[]`" in named
    assert sorted(set(named)) == sorted(named)
    tables = [set(re.findall(r"^\| `.+", part, re.MULTILINE)) for part in PAGE.split("\n## ")]
    assert all(len(one & other) < 5 for one, other in itertools.combinations(tables, 2))


def test_links_lead_to_sections() -> None:
    titles = re.findall(r"^## (.+)$", PAGE, re.MULTILINE)
    anchors = {re.sub(r"[^\w -]", "", title.lower()).replace(" ", "-") for title in titles}
    linked = set(re.findall(r"\]\(#([^)]+)\)", PAGE))
    assert "clusterinstance_groups" in linked
    assert linked - anchors == set()


def test_a_task_has_the_keys_of_the_fields_with_its_mark() -> None:
    assert config_reference.tasks()["let people use kubectl"] == [
        "eks.admins",
        "eks.viewers",
        "eks.editors",
    ]
    assert config_reference.tasks()["use reserved capacity"] == [
        "cluster.instance_groups[].training_plan_arn"
    ]


@pytest.mark.parametrize(
    ("row", "default"),
    [
        ("| `region` | string or null | {} | AWS region, such as us-west-2. |", "that of the CDK"),
        ("| `wait_for` | accepted \\| in_service \\| nodes | {} | When", "nodes"),
        ("| `compression` | NONE \\| ZSTD \\| LZ4 | {} | Data", '`"LZ4"`'),
        ("| `threads_per_core` | integer or null | {} | 2 turns", "2 where every type"),
    ],
)
def test_a_default_is_in_its_column(row: str, default: str) -> None:
    before, after = row.split("{}")
    (line,) = [line for line in PAGE.splitlines() if line.startswith(before) and after in line]
    assert line.removeprefix(before).startswith(default)
    assert after.strip(" |") in line.removeprefix(before)
