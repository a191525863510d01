"""Selectors, quantities, protobuf, tables and watches of the Kubernetes API."""

import asyncio
from collections.abc import AsyncIterator
from typing import Any

import pytest
from emulator.kubernetes.controllers.volumes import quantity
from emulator.kubernetes.server.watch import WatchOptions, watch

from emulator.kubernetes import ApiError
from emulator.kubernetes.objects.metadata import field_predicate, label_predicate
from emulator.kubernetes.objects.resources import Resource, ResourceCatalog
from emulator.kubernetes.objects.schemas import BuiltInSchemas
from emulator.kubernetes.objects.store import Store
from emulator.kubernetes.server.bodies import decode
from emulator.kubernetes.server.tables import at, wants_table
from tests.support.patience import PATIENCE_SECONDS


def labelled(**labels: str) -> dict[str, Any]:
    return {"metadata": {"name": "x", "labels": labels}, "status": {"phase": "Bound"}}


@pytest.mark.parametrize(
    ("selector", "matches"),
    [
        ("", True),
        ("a=1", True),
        ("a==1", True),
        ("a = 1", True),
        ("a!=1", False),
        ("b!=1", True),
        ("a", True),
        ("b", False),
        ("!b", True),
        ("!a", False),
        ("a in (1,2)", True),
        ("a in (2, 3)", False),
        ("a notin (2),c", True),
        ("a notin (1)", False),
        ("a=1,c=3", True),
        ("a=1,c=4", False),
        ("owner=helm,name in (x)", False),
    ],
)
def test_label_selectors(selector: str, *, matches: bool) -> None:
    assert label_predicate(selector)(labelled(a="1", c="3")) == matches


@pytest.mark.parametrize(
    ("selector", "matches"),
    [
        ("metadata.name=x", True),
        ("metadata.name!=x", False),
        ("metadata.name=x,status.phase=Bound", True),
        ("status.phase=Pending", False),
        ("spec.nodeName=", True),
    ],
)
def test_field_selectors(selector: str, *, matches: bool) -> None:
    assert field_predicate(selector)(labelled()) == matches


@pytest.mark.parametrize("selector", ["a in 1", "a=(", "=1"])
def test_a_bad_label_selector_is_refused(selector: str) -> None:
    with pytest.raises(ApiError, match="unable to parse"):
        label_predicate(f"{selector} x y")


def test_a_bad_field_selector_is_refused() -> None:
    with pytest.raises(ApiError, match="invalid field selector"):
        field_predicate("metadata.name")


@pytest.mark.parametrize(
    ("text", "number"),
    [("1", 1), ("500m", 0.5), ("1k", 1000), ("1Ki", 1024), ("1200Gi", 1200 * 2**30), (2, 2)],
)
def test_quantities(text: object, number: float) -> None:
    assert quantity(text) == number


@pytest.mark.parametrize("text", ["", "1Xi", "Gi", "1 Gi"])
def test_a_bad_quantity_is_refused(text: str) -> None:
    with pytest.raises(ValueError, match="is not a quantity"):
        quantity(text)


def field(number: int, value: bytes | int) -> bytes:
    """Return one protobuf field."""
    if isinstance(value, int):
        return bytes([number << 3, value])
    size = len(value)
    length = bytes([size]) if size < 128 else bytes([size & 127 | 128, size >> 7])
    return bytes([number << 3 | 2]) + length + value


def message(kind: str, raw: bytes) -> bytes:
    """Return a body as Kubernetes clients send it."""
    type_meta = field(1, b"v1") + field(2, kind.encode())
    return b"k8s\x00" + field(1, type_meta) + field(2, raw) + field(3, b"") + field(4, b"")


def test_protobuf_secrets_read_like_json_ones() -> None:
    entry = field(1, b"release") + field(2, b"\x00\xff" * 100)
    label = field(1, b"owner") + field(2, b"helm")
    meta = field(1, b"name") + field(3, b"ns") + field(11, label) + field(8, b"ignored")
    raw = field(1, meta) + field(2, entry) + field(3, b"helm.sh/release.v1") + field(5, 1)
    secret = decode(message("Secret", raw))
    assert secret["metadata"] == {"name": "name", "namespace": "ns", "labels": {"owner": "helm"}}
    assert secret["data"]["release"].startswith("AP8A/wD/")
    assert (secret["kind"], secret["type"], secret["immutable"]) == (
        "Secret",
        "helm.sh/release.v1",
        True,
    )


def test_protobuf_delete_options() -> None:
    raw = field(1, 5) + field(2, field(1, b"some-uid")) + field(4, b"Orphan") + field(5, b"All")
    options = decode(message("DeleteOptions", raw))
    assert options["gracePeriodSeconds"] == 5
    assert options["preconditions"] == {"uid": "some-uid"}
    assert (options["propagationPolicy"], options["dryRun"]) == ("Orphan", ["All"])


@pytest.mark.parametrize(
    ("body", "code"),
    [
        (b"{}", 400),
        (message("Secret", b"")[:-7], 400),
        (b"k8s\x00\x0b", 400),
        (b"k8s\x00\x80", 400),
        (message("Secret", field(1, 3)), 400),
        (message("Secret", field(3, b"\xff")), 400),
        (message("Pod", b""), 415),
    ],
)
def test_bad_protobuf_is_refused(body: bytes, code: int) -> None:
    with pytest.raises(ApiError) as caught:
        decode(body)
    assert caught.value.code == code


@pytest.mark.parametrize(
    ("accept", "wanted"),
    [
        ("application/json;as=Table;v=v1;g=meta.k8s.io,application/json", True),
        ("application/json", False),
        ("application/json, application/json;as=Table", False),
        ("", False),
    ],
)
def test_tables_are_for_those_who_ask(accept: str, *, wanted: bool) -> None:
    assert wants_table(accept) == wanted


@pytest.mark.parametrize(
    ("path", "cell"),
    [
        (".spec.size", 3),
        (".status.conditions[-1:].type", "Ready"),
        (".status.conditions[0].type", "Created"),
        (".status.conditions[5].type", "-"),
        ('.status.conditions[?(@.type=="Ready")].status', "True"),
        (".spec.modes", "a,b"),
        (".spec.absent", "-"),
        (".spec.size.deeper", "-"),
    ],
)
def test_cells_of_a_table(path: str, cell: object) -> None:
    conditions = [{"type": "Created"}, {"type": "Ready", "status": "True"}]
    item = {"spec": {"size": 3, "modes": ["a", "b"]}, "status": {"conditions": conditions}}
    assert at(path, "-")(item) == cell


def config(name: str, **labels: str) -> dict[str, Any]:
    return {"kind": "ConfigMap", "metadata": {"name": name, "namespace": "n", "labels": labels}}


def config_maps() -> Resource:
    """Return the resource of ConfigMaps."""
    catalog = ResourceCatalog(schemas=BuiltInSchemas(kubernetes_version="1.34"))
    found = catalog.by_path(group="", version="v1", plural="configmaps")
    assert found is not None
    return found


def events(
    store: Store, resource: Resource, *, since: int | None, changes: list[dict[str, Any]]
) -> list[tuple[str, str]]:
    """Watch objects labelled `seen=yes` while changes happen; return what was told."""
    options = WatchOptions(
        since=since,
        accepts=label_predicate("seen=yes"),
        bookmarks=False,
        initial_end=since is None,
        timeout_seconds=PATIENCE_SECONDS,
    )

    async def collect() -> list[tuple[str, str]]:
        stream: AsyncIterator[dict[str, Any]] = watch(store, resource, options)
        told = []
        async for event in stream:
            name = event["object"]["metadata"].get("name", "")
            if name == "last":
                break
            told.append((event["type"], name))
            if len(told) == 1:
                for change in (*changes, config("last", seen="yes")):
                    store.put(resource, change)
        return told

    return asyncio.run(collect())


def test_a_watch_tells_what_exists_and_then_what_changes() -> None:
    store, resource = Store(), config_maps()
    store.put(resource, config("old", seen="yes"))
    store.put(resource, config("unseen"))
    changes = [
        config("old", seen="yes", more="1"),
        config("new", seen="yes"),
        config("new", seen="no"),
        config("unseen", more="1"),
    ]
    assert events(store, resource, since=None, changes=changes) == [
        ("ADDED", "old"),
        ("BOOKMARK", ""),
        ("MODIFIED", "old"),
        ("ADDED", "new"),
        ("DELETED", "new"),
    ]


def test_a_watch_from_a_version_tells_what_came_after() -> None:
    store, resource = Store(), config_maps()
    store.put(resource, config("old", seen="yes"))
    version = store.version
    item = store.put(resource, config("later", seen="yes"))
    store.remove(resource, item)
    assert events(store, resource, since=version, changes=[]) == [
        ("ADDED", "later"),
        ("DELETED", "later"),
    ]
