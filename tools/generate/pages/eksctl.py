"""What is generated in the page about EKS node groups: keys of HyperPod, and those of eksctl."""

from collections.abc import Iterator, Mapping
from pathlib import Path

from hyperpod_cdk import Config
from hyperpod_cdk.hyperpod.instance_group import InstanceGroupConfig
from hyperpod_cdk.node_groups.section import ManagedNodeGroupConfig
from hyperpod_cdk.schema.errors import shown
from hyperpod_cdk.schema.section import OfHyperPod, Section, section_in
from hyperpod_cli.deliver.eksctl.reading import TABLE
from hyperpod_cli.deliver.eksctl.row import Row
from tools.generate import REPOSITORY
from tools.generate.marks import table, with_part

TARGET = REPOSITORY / "docs" / "node-groups.md"


def render() -> Mapping[Path, str]:
    """Return the page with its table, and the keys that only HyperPod has."""
    rows = table(("eksctl", "here", "what to know, or to do instead"), _rows())
    page = with_part(TARGET.read_text("utf-8"), mark="eksctl", text=rows)
    theirs = InstanceGroupConfig.model_fields.keys() - ManagedNodeGroupConfig.model_fields.keys()
    for mark, keys in (
        ("hyperpod-keys", _keys_of_hyperpod(Config)),
        ("group-keys", sorted(theirs)),
    ):
        page = with_part(page, mark=mark, text=f"{', '.join(f'`{key}`' for key in keys)}.\n")
    return {TARGET: page}


def _keys_of_hyperpod(section: type[Section], path: str = "") -> Iterator[str]:
    """Yield the keys that are refused where there is no HyperPod cluster."""
    for name, field in section.model_fields.items():
        key = f"{path}.{name}" if path else name
        inner = section_in(field.annotation)
        if any(isinstance(mark, OfHyperPod) for mark in field.metadata):
            yield key
        elif inner is not None and key != "cluster":
            yield from _keys_of_hyperpod(inner, key)


def _rows() -> Iterator[tuple[str, str, str]]:
    for row in TABLE:
        keys = ", ".join(f"`{key}`" for key in row.keys)
        case = f": `{row.case}`" if row.case else ""
        same = "" if row.says else "as always here"
        yield f"{keys}{case}", f"`{_ours(row)}`" if row.ours else same, row.says


def _ours(row: Row) -> str:
    """Return the key, with its value where the row is for one value."""
    return f"{row.ours}: {shown(row.read(row.case))}".replace("'", "") if row.case else row.ours
