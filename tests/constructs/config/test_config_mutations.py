"""Whatever the file holds, it loads or it is refused in lines."""

import copy
from pathlib import Path
from typing import Any

import pytest
import yaml
from hypothesis import given, settings
from hypothesis import strategies as st

from hyperpod_cdk import Config, ConfigError, load_config
from tests.support.configs import EVERY_FIELD, default_document

DEFAULT = default_document()
ALL_KEYS = yaml.safe_load(EVERY_FIELD.read_text("utf-8"))
REMOVED = object()

scalars = (
    st.none()
    | st.booleans()
    | st.integers()
    | st.floats()
    | st.text(max_size=20)
    | st.dates()
    | st.sampled_from(["10.0.0.0/8", "usw2-az9", "s3://", "arn:aws:iam::1:role/x", "0x_", "aws:"])
)
values = st.recursive(
    scalars,
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(scalars, inner, max_size=3),
    max_leaves=5,
)


def paths(node: object, path: tuple[Any, ...] = ()) -> list[tuple[Any, ...]]:
    items: list[tuple[Any, Any]] = []
    if isinstance(node, dict):
        items = list(node.items())
    elif isinstance(node, list):
        items = list(enumerate(node))
    return [path, *(found for key, item in items for found in paths(item, (*path, key)))]


def mutated(document: dict[str, Any], *, path: tuple[Any, ...], value: object) -> object:
    if not path:
        return None if value is REMOVED else value
    document = copy.deepcopy(document)
    parent: Any = document
    for step in path[:-1]:
        parent = parent[step]
    if value is REMOVED:
        del parent[path[-1]]
    else:
        parent[path[-1]] = value
    return document


@pytest.fixture(scope="module")
def file(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return tmp_path_factory.mktemp("mutations") / "config.yaml"


def loads_or_is_refused(file: Path) -> None:
    try:
        assert isinstance(load_config(file), Config)
    except ConfigError as error:
        assert error.lines
        assert all(line.startswith(f"{file}:") and line.isprintable() for line in error.lines)


@settings(max_examples=150, deadline=None)
@given(path=st.sampled_from(paths(DEFAULT)), value=values | st.just(REMOVED))
def test_replaced_or_removed_value(file: Path, path: tuple[Any, ...], value: object) -> None:
    file.write_text(yaml.safe_dump(mutated(DEFAULT, path=path, value=value)), encoding="utf-8")

    loads_or_is_refused(file)


@pytest.mark.whole
@pytest.mark.slow(seconds=10)
@settings(max_examples=150, deadline=None)
@given(path=st.sampled_from(paths(ALL_KEYS)), value=values | st.just(REMOVED))
def test_replaced_or_removed_value_among_all_keys(
    file: Path, path: tuple[Any, ...], value: object
) -> None:
    file.write_text(yaml.safe_dump(mutated(ALL_KEYS, path=path, value=value)), encoding="utf-8")

    loads_or_is_refused(file)


@settings(max_examples=100, deadline=None)
@given(
    path=st.sampled_from([p for p in paths(DEFAULT) if p and isinstance(p[-1], str)]),
    key=scalars,
    value=values,
)
def test_added_key(file: Path, path: tuple[Any, ...], key: object, value: object) -> None:
    document = mutated(DEFAULT, path=(*path[:-1], key), value=value)
    file.write_text(yaml.safe_dump(document), encoding="utf-8")

    loads_or_is_refused(file)


@settings(max_examples=100, deadline=None)
@given(text=st.text(max_size=60) | st.text(alphabet=":-[]{}&*!|>'\"%@`#?, \n\tax0_", max_size=40))
def test_any_text(file: Path, text: str) -> None:
    file.write_text(text, encoding="utf-8")

    loads_or_is_refused(file)


@settings(max_examples=50, deadline=None)
@given(content=st.binary(max_size=40))
def test_any_bytes(file: Path, content: bytes) -> None:
    file.write_bytes(content)

    loads_or_is_refused(file)
