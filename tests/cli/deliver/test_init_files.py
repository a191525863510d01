"""What `init` writes: the default configuration with answers in it, and its comments."""

import tempfile
from collections.abc import Mapping
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from hyperpod_cdk import Config, load_config
from hyperpod_cdk.facts.instance_types import instance_types
from hyperpod_cdk.facts.service_limits import regions
from hyperpod_cli.deliver.init.questions import QUESTIONS, AnswerError, answered, first_answers
from hyperpod_cli.deliver.init.template import Answers, configuration, default_answers
from hyperpod_cli.deliver.yaml_text import YamlText
from tests.support.commands import ran
from tests.support.configs import CONFIG_FOLDER, REPOSITORY


def written(**changes: Any) -> str:
    answers: Answers = replace(default_answers(), **changes)
    return configuration(answers, path=CONFIG_FOLDER / "mine.yaml")


def loaded(folder: Path, text: str) -> Config:
    (folder / "mine.yaml").write_text(text, "utf-8")
    return load_config(folder / "mine.yaml")


def test_the_defaults_give_the_default_configuration_with_its_comments() -> None:
    default = (CONFIG_FOLDER / "default.yaml").read_text("utf-8").splitlines()
    lines = written().splitlines()
    assert lines[:2] == default[:2]
    assert lines[4:] == default[4:]


def test_only_what_is_answered_differs() -> None:
    default = written().splitlines()
    lines = written(name="hp", instance_count=3).splitlines()
    changed = [(old, new) for old, new in zip(default, lines, strict=True) if old != new]
    assert changed == [
        (
            "name: ml # the names of the stacks begin with it, such as ml-platform",
            "name: hp # the names of the stacks begin with it, such as hp-platform",
        ),
        ("      instance_count: 1", "      instance_count: 3"),
    ]


def test_no_comment_names_the_place_of_the_default_configuration() -> None:
    text = written(region="eu-west-1", zones=("euw1-az3", "euw1-az1"))
    assert "us-west-2" not in text
    assert "usw2" not in text


def test_the_editor_finds_the_schema_from_the_file(tmp_path: Path) -> None:
    questions = {each.key: each.given(default_answers()) for each in QUESTIONS}
    answers = [part for key, value in questions.items() for part in (key, value)]
    file = tmp_path / "a folder" / "mine.yaml"
    file.parent.mkdir()
    assert ran("init", *answers, "--config", file).code == 0

    text = file.read_text()
    schema = file.with_name(text.splitlines()[0].partition("$schema=")[2])
    assert schema.parent == file.parent
    assert schema.read_bytes() == (CONFIG_FOLDER / "schema.json").read_bytes()
    assert f"`hyperpod-cdk deploy '{file}'`" in text


def test_a_file_in_a_checkout_names_its_schema() -> None:
    text = configuration(default_answers(), path=REPOSITORY / "mine.yaml")
    assert text.startswith("# yaml-language-server: $schema=config/schema.json\n")


@pytest.mark.parametrize(
    ("instance_type", "comment", "interfaces"),
    [
        ("ml.g5.12xlarge", "4 NVIDIA A10G", None),
        ("ml.p5.48xlarge", "8 NVIDIA H100", "efa"),
        ("ml.trn1.32xlarge", "16 AWS Trainium", "efa"),
        ("ml.m5.2xlarge", "no accelerator, 8 vCPUs", None),
        ("ml.t3.medium", "no accelerator, 2 vCPUs", None),
    ],
)
def test_the_group_fits_its_hardware(
    tmp_path: Path, instance_type: str, comment: str, interfaces: str | None
) -> None:
    text = written(instance_type=instance_type)
    first, *others = loaded(tmp_path, text).cluster.instance_groups
    assert first.instance_type == instance_type
    assert f"instance_type: {instance_type} # {comment}\n" in text
    assert first.network_interface_type == interfaces
    accelerated = comment.endswith(("A10G", "H100", "Trainium"))
    assert [group.instance_type for group in others] == ["ml.m5.2xlarge"] * accelerated
    assert bool(first.deep_health_checks) is accelerated
    # What the default configuration says of Trainium is not said where there is some.
    assert ("no group below has Trainium" in text) is ("trn" not in instance_type)
    assert "\n\n\n" not in text


@pytest.mark.parametrize("instance_type", ["ml.p6e-gb200.36xlarge", "ml.c6i.large"])
def test_a_type_with_other_threads_or_none_known_loads(tmp_path: Path, instance_type: str) -> None:
    config = loaded(tmp_path, written(instance_type=instance_type))
    assert config.cluster.instance_groups[0].instance_type == instance_type


def test_storage_is_a_size_or_none(tmp_path: Path) -> None:
    storage = loaded(tmp_path, written(capacity_gib=4800)).storage
    assert storage is not None
    assert (storage.capacity_gib, storage.throughput_mbps_per_tib) == (4800, 250)
    assert loaded(tmp_path, written(capacity_gib=None)).storage is None


NAMES = st.one_of(st.from_regex(r"[a-z][a-z0-9-]{0,24}", fullmatch=True), st.text(min_size=1))
TEXTS = {
    "--name": st.one_of(NAMES, st.sampled_from(["no", "null", "y", "on"])),
    "--region": st.sampled_from(sorted(regions())),
    "--zones": st.sampled_from(["", "", "", "usw2-az4", "use1-az3", "a,b,c", "[]"]),
    "--type": st.sampled_from(instance_types()),
    "--count": st.one_of(st.integers(-1, 99).map(str), st.text(max_size=3)),
    "--admin": st.sampled_from(["none", "arn:aws:iam::111122223333:role/Admin", "x"]),
    "--storage": st.sampled_from(["none", "1200", "9600", "1", "null"]),
}


@settings(max_examples=25, deadline=None)
@given(st.fixed_dictionaries(TEXTS))
def test_each_file_that_is_written_loads(given: Mapping[str, str]) -> None:
    answers = first_answers()
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / "mine.yaml"
        try:
            for question in QUESTIONS:
                text = given[question.key] or question.given(answers)
                answers = answered(question, text, answers=answers, path=path)
        except AnswerError as refusal:
            assert all(line.isprintable() for line in str(refusal).splitlines())
            return
        config = loaded(Path(folder), configuration(answers, path=path))
    assert (config.name, config.region) == (given["--name"], given["--region"])
    assert config.cluster.name == f"{config.name}-cluster"
    assert config.cluster.instance_groups[0].instance_type == given["--type"]


def test_a_key_goes_with_the_comments_in_it() -> None:
    file = YamlText("a:\n b: 1\n # of a\n# of c\nc: 2\n")
    file.remove(("a",))
    assert file.text == "# of c\nc: 2\n"
