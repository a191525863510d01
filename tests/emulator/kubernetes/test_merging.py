"""How patches and applies change objects."""

from typing import Any

import pytest

from emulator.kubernetes import ApiError
from emulator.kubernetes.apply.field_paths import (
    after_update,
    field_paths,
    from_fields,
    readable,
    to_fields,
)
from emulator.kubernetes.apply.patches import json_patched, merge_patched, strategic_patched
from emulator.kubernetes.apply.server_side_apply import applied
from emulator.kubernetes.objects.schemas import BuiltInSchemas

SCHEMAS = BuiltInSchemas(kubernetes_version="1.34")
POD = SCHEMAS.of(group="", version="v1", kind="Pod")
SERVICE = SCHEMAS.of(group="", version="v1", kind="Service")


def pod(**spec: Any) -> dict[str, Any]:
    return {"apiVersion": "v1", "kind": "Pod", "metadata": {"name": "p"}, "spec": spec}


def box(name: str, **more: Any) -> dict[str, Any]:
    return {"name": name, **more}


def env(*names: str) -> list[dict[str, str]]:
    return [{"name": name, "value": "1"} for name in names]


def apply(
    wanted: dict[str, Any],
    live: dict[str, Any] | None = None,
    manager: str = "me",
    *,
    force: bool = False,
) -> dict[str, Any]:
    return applied(wanted, live=live, manager=manager, force=force, schema=POD)


@pytest.mark.parametrize(
    ("first", "second", "result"),
    [
        ({"hostname": "a", "nodeName": "n"}, {"nodeName": "n"}, {"nodeName": "n"}),
        ({"nodeSelector": {"a": "1"}}, {"nodeSelector": {"b": "2"}}, {"nodeSelector": {"b": "2"}}),
        (
            {"containers": [box("x", image="1"), box("y", image="1")]},
            {"containers": [box("x", image="2")]},
            {"containers": [box("x", image="2")]},
        ),
        (
            {"containers": [box("x", env=env("A", "B"))]},
            {"containers": [box("x", env=env("B", "C"))]},
            {"containers": [box("x", env=env("B", "C"))]},
        ),
        (
            {"containers": [box("x", command=["a", "b"])]},
            {"containers": [box("x", command=["c"])]},
            {"containers": [box("x", command=["c"])]},
        ),
        ({"securityContext": {"runAsUser": 1}}, {"hostname": "h"}, {"hostname": "h"}),
    ],
)
def test_applying_again_replaces_what_the_manager_wanted_before(
    first: dict[str, Any], second: dict[str, Any], result: dict[str, Any]
) -> None:
    assert apply(pod(**second), apply(pod(**first)))["spec"] == result


def test_what_another_manager_also_wants_stays() -> None:
    both = apply(pod(hostname="h", nodeName="n"), apply(pod(hostname="h")), "other")
    without = apply(pod(nodeName="n"), both, "other")
    assert without["spec"] == {"hostname": "h", "nodeName": "n"}
    gone = apply(pod(), without)
    assert gone["spec"] == {"nodeName": "n"}


def test_managers_share_a_list_by_its_items() -> None:
    shared = apply(pod(containers=[box("x", image="1")]))
    shared = apply(pod(containers=[box("y", image="1")]), shared, "other")
    assert [entry["name"] for entry in shared["spec"]["containers"]] == ["x", "y"]
    alone = apply(pod(containers=[]), shared)
    assert [entry["name"] for entry in alone["spec"]["containers"]] == ["y"]


def test_a_conflict_names_managers_and_fields_and_force_takes_them() -> None:
    live = apply(pod(containers=[box("x", image="1")], hostname="h"))
    wanted = pod(containers=[box("x", image="2")], hostname="i")
    with pytest.raises(ApiError) as caught:
        apply(wanted, live, "other")
    assert caught.value.code == 409
    assert "Apply failed with 2 conflicts" in caught.value.message
    assert 'conflict with "me": .spec.containers[name="x"].image' in caught.value.message
    forced = apply(wanted, live, "other", force=True)
    assert forced["spec"]["containers"][0]["image"] == "2"
    assert apply(wanted, forced, "other") == forced


def test_an_update_takes_the_fields_it_changes() -> None:
    live = apply(pod(hostname="h", nodeName="n"))
    changed = {**live, "spec": {"hostname": "i", "nodeName": "n"}}
    updated = after_update(changed, before=live, manager="hand", subresource="", schema=POD)
    with pytest.raises(ApiError, match=r'conflict with "hand": \.spec\.hostname'):
        apply(pod(hostname="h"), updated)


@pytest.mark.parametrize(
    ("item", "path", "shown"),
    [
        (pod(hostname="h"), ("f:spec", "f:hostname"), ".spec.hostname"),
        (
            pod(containers=[box("x", image="1")]),
            ("f:spec", "f:containers", 'k:{"name":"x"}', "f:image"),
            '.spec.containers[name="x"].image',
        ),
        (
            {**pod(), "metadata": {"name": "p", "finalizers": ["a/b"]}},
            ("f:metadata", "f:finalizers", 'v:"a/b"'),
            '.metadata.finalizers[="a/b"]',
        ),
    ],
)
def test_fields_are_named_as_kubernetes_names_them(
    item: dict[str, Any], path: tuple[str, ...], shown: str
) -> None:
    paths = field_paths(item, POD)
    assert path in paths
    assert readable(path) == shown
    assert from_fields(to_fields(paths)) == paths
    assert not any(path[-1] in ("f:name", "f:kind") and len(path) <= 2 for path in paths)


def test_the_protocol_of_a_port_may_be_left_to_its_default() -> None:
    def service(*ports: dict[str, Any]) -> dict[str, Any]:
        spec = {"ports": list(ports)}
        return {"apiVersion": "v1", "kind": "Service", "metadata": {"name": "s"}, "spec": spec}

    live = applied(
        service({"port": 80, "protocol": "TCP"}),
        live=None,
        manager="me",
        force=False,
        schema=SERVICE,
    )
    again = applied(
        service({"port": 80, "name": "web"}),
        live=live,
        manager="other",
        force=False,
        schema=SERVICE,
    )
    assert again["spec"]["ports"] == [{"port": 80, "protocol": "TCP", "name": "web"}]


@pytest.mark.parametrize(
    ("patch", "result"),
    [
        ({"containers": [box("x", image="2")]}, [box("x", image="2"), box("y")]),
        ({"containers": [box("z")]}, [box("x", image="1"), box("y"), box("z")]),
        ({"containers": [{"name": "x", "$patch": "delete"}]}, [box("y")]),
        ({"containers": [box("z"), {"$patch": "replace"}]}, [box("z")]),
        ({"containers": [box("x", image=None)]}, [box("x"), box("y")]),
        (
            {"$setElementOrder/containers": [{"name": "y"}, {"name": "x"}]},
            [box("y"), box("x", image="1")],
        ),
    ],
)
def test_a_strategic_patch_merges_by_key(
    patch: dict[str, Any], result: list[dict[str, Any]]
) -> None:
    before = pod(containers=[box("x", image="1"), box("y")])
    assert strategic_patched(before, {"spec": patch}, POD)["spec"]["containers"] == result


@pytest.mark.parametrize(
    ("before", "patch", "result"),
    [
        ({"nodeSelector": {"a": "1"}}, {"nodeSelector": {"b": "2"}}, {"a": "1", "b": "2"}),
        ({"nodeSelector": {"a": "1"}}, {"nodeSelector": {"a": None}}, {}),
        (
            {"nodeSelector": {"a": "1"}},
            {"nodeSelector": {"$patch": "replace", "b": "2"}},
            {"b": "2"},
        ),
        ({"nodeSelector": {"a": "1"}}, {"nodeSelector": {"$patch": "delete"}}, None),
        (
            {"nodeSelector": {"a": "1", "b": "2"}},
            {"nodeSelector": {"$retainKeys": ["a", "c"], "c": "3"}},
            {"a": "1", "c": "3"},
        ),
    ],
)
def test_a_strategic_patch_of_a_map(
    before: dict[str, Any], patch: dict[str, Any], result: dict[str, Any] | None
) -> None:
    assert strategic_patched(pod(**before), {"spec": patch}, POD)["spec"].get("nodeSelector") == (
        result
    )


def test_a_strategic_patch_of_a_list_of_values() -> None:
    before = {"metadata": {"finalizers": ["a", "b"]}}
    patch = {"metadata": {"$deleteFromPrimitiveList/finalizers": ["a"], "finalizers": ["c"]}}
    assert strategic_patched(before, patch, POD) == {"metadata": {"finalizers": ["b", "c"]}}


def test_a_strategic_patch_needs_the_key_of_an_item() -> None:
    with pytest.raises(ApiError, match="does not contain declared merge key: name"):
        strategic_patched(pod(), {"spec": {"containers": [{"image": "1"}]}}, POD)


def test_a_merge_patch_replaces_lists_and_removes_nulls() -> None:
    before = {"a": {"b": 1, "c": 2}, "d": [1, 2]}
    assert merge_patched(before, {"a": {"b": None, "e": {"f": None}}, "d": [3]}) == {
        "a": {"c": 2, "e": {}},
        "d": [3],
    }
    assert before == {"a": {"b": 1, "c": 2}, "d": [1, 2]}


@pytest.mark.parametrize(
    ("operations", "code"),
    [
        ([{"op": "test", "path": "/a", "value": 2}], 422),
        ([{"op": "remove", "path": "/b"}], 422),
        ([{"op": "leap", "path": "/a"}], 400),
        ([{"path": "/a"}], 400),
    ],
)
def test_a_bad_json_patch_is_refused(operations: list[dict[str, Any]], code: int) -> None:
    with pytest.raises(ApiError) as caught:
        json_patched({"a": 1}, operations)
    assert caught.value.code == code
