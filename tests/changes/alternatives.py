"""Another valid value for each key of a configuration."""

from collections.abc import Callable, Iterator, Mapping
from typing import Any

from pydantic import ValidationError

from hyperpod_cdk.config.config import Config
from tests.support.configs import CONFIG_FOLDER
from tests.support.schema_values import Place, places, with_value

Document = dict[str, Any]
Path = tuple[str | int, ...]

# Values that are files of this repository; others are examples of the schema.
VALUES: Mapping[str, list[Any]] = {
    "directory": [str(CONFIG_FOLDER.parent / "lifecycle" / "eks")],
    "script": [str(CONFIG_FOLDER.parent / "lifecycle" / "eks" / "on_create.sh")],
    "node_health": [{"script": str(CONFIG_FOLDER / "examples" / "node-health" / "gpus.sh")}],
}
# Whole sections, whose keys are changed one by one; keys that need another key, or a chart, or are
# refused with any other value.
NO_OTHER_VALUE = frozenset(
    {
        "cluster.instance_groups.auto_patch",
        "cluster.instance_groups.ebs_volumes",
        "cluster.instance_groups.fsx_lustre_mounts",
        "cluster.instance_groups.fsx_openzfs_mounts",
        "cluster.instance_groups.override_vpc",
        "cluster.instance_groups.scheduled_update",
        "cluster.restricted_instance_groups",
        "cluster.shared_environment",
        "cluster.tiered_storage",
        "eks",
        "encryption",
        "encryption.create_kms_key",
        "helm",
        "helm.adopt_namespaces",
        "helm.chart",
        "helm.components",
        "helm.components.compute_quota_target_id",
        "helm.i_know_this_breaks_resiliency",
        "lifecycle_scripts",
        "lifecycle_scripts.run",
        "network",
        "network.endpoint_policies",
        "network.hyperpod_subnets.route_table_id",
        "observability",
        "operators",
        "storage.backup_start_time",
        "storage.data_repositories.new_bucket",
        "storage.efa_enabled",
        "storage.home_directories.backup_start_time",
        "storage.home_directories.delete_with_stack",
        "storage.home_directories.i_understand_all_files_are_deleted",
        "storage.read_cache",
        "storage.read_cache_gib",
        "storage.storage_type",
        "storage.throughput_mbps",
        "storage.delete_with_stack",
        "storage.i_understand_all_files_are_deleted",
    }
)
# What tells an item of a list from the one before: a subnet, and an instance group.
ANOTHER_ITEM: Mapping[str, Mapping[str, Any]] = {
    "hyperpod_subnets": {"cidr": "10.4.0.0/16"},
    "instance_groups": {"name": "another"},
}


def changes(
    document: Document, *, among: Callable[[Path], bool] = lambda _: True
) -> Iterator[tuple[str, list[Document]]]:
    """Yield each key, and valid documents in which it alone has another value.

    These are one or two: with the first value that is valid, and with null.

    Args:
        document: A configuration.
        among: Returns whether to change the key at a path.
    """
    base = Config.model_validate(document)
    values = base.model_dump()
    for place in places(document):
        # Of several groups the first stands for all.
        if any(isinstance(step, int) and step > 0 for step in place.path):
            continue
        if not among(place.path):
            continue
        candidates = _candidates(
            place, current=_at(document, place.path), base=_at(values, place.path)
        )
        found: list[Document] = []
        for value in candidates:
            # To find out whether a value is valid takes long, and some keys have hundreds.
            if found and value is not None:
                continue
            changed = with_value(document, place=place, value=value)
            if changed not in found and _differs(changed, base=base):
                found.append(changed)
        yield dotted(place.path), found


def is_set(document: Document, path: Path) -> bool:
    """Return whether a configuration has a key, be it null."""
    section = _at(document, path[:-1])
    return isinstance(section, dict) and path[-1] in section


def dotted(path: Path) -> str:
    """Return a path as messages write it, without positions."""
    return ".".join(f"{step}" for step in path if isinstance(step, str))


def _differs(document: Document, *, base: Config) -> bool:
    """Return whether a document is valid, and another configuration."""
    try:
        return Config.model_validate(document) != base
    except ValidationError:
        return False


def _candidates(place: Place, *, current: object, base: object) -> Iterator[Any]:
    if isinstance(current, list) and current:
        # What comes after it moves up.
        yield current[1:]
    yield from VALUES.get(str(place.path[-1]), ())
    yield from place.schema.get("examples", ())
    for schema in place.schema.get("anyOf", [place.schema]):
        yield from schema.get("examples", ())
        yield from ([each] for each in schema.get("items", {}).get("examples", ()))
        yield from schema.get("enum", ())
        match schema.get("type"):
            case "boolean":
                yield from (True, False)
            case "integer":
                step = schema.get("multipleOf", 1)
                number = base if isinstance(base, int) else schema.get("minimum", 0)
                yield from (number + step, number - step, number * 2, schema.get("minimum", 1))
            case "string":
                yield from (f"{base}-2", "another")
            case "array" if isinstance(current, list) and current:
                yield current[:-1]
                if place.path[-1] in ANOTHER_ITEM:
                    yield [*current, {**current[-1], **ANOTHER_ITEM[str(place.path[-1])]}]
            case "null":
                yield None


def _at(document: object, path: Path) -> object:
    for step in path:
        match document, step:
            case dict(), str():
                document = document.get(step)
            case list(), int():
                document = document[step]
            case _:
                return None
    return document
