"""Binds persistent volume claims to the volumes they fit."""

import re

from emulator.kubernetes.objects.errors import Object
from emulator.kubernetes.objects.metadata import name_of, namespace_of
from emulator.kubernetes.objects.resources import Resource, ResourceCatalog
from emulator.kubernetes.objects.store import Store

_QUANTITY = re.compile(r"([+-]?[0-9.]+)([a-zA-Z]*)")
_DECIMAL = {"n": -9, "u": -6, "m": -3, "": 0, "k": 3, "M": 6, "G": 9, "T": 12, "P": 15, "E": 18}
_BINARY = {"Ki": 10, "Mi": 20, "Gi": 30, "Ti": 40, "Pi": 50, "Ei": 60}


def bind_claims(store: Store, catalog: ResourceCatalog) -> None:
    """Bind each pending claim to a free volume that satisfies it, and release orphaned volumes."""
    claims = catalog.by_kind(api_version="v1", kind="PersistentVolumeClaim")
    volumes = catalog.by_kind(api_version="v1", kind="PersistentVolume")
    if claims is None or volumes is None:
        return
    for volume in store.listed(volumes):
        _release(store, volumes, volume, claims)
    for claim in store.listed(claims):
        if (claim.get("status") or {}).get("phase") == "Bound":
            continue
        fitting = [volume for volume in store.listed(volumes) if _fits(volume, claim)]
        if fitting:
            _bind(store, claims, claim, volumes, min(fitting, key=_capacity))


def _fits(volume: Object, claim: Object) -> bool:
    wanted, offered = claim["spec"], volume["spec"]
    reference = offered.get("claimRef")
    if reference is not None:
        if (reference.get("namespace"), reference.get("name")) != (
            namespace_of(claim),
            name_of(claim),
        ):
            return False
        if reference.get("uid") not in (None, claim["metadata"]["uid"]):
            return False
    request = (wanted.get("resources") or {}).get("requests", {}).get("storage", "0")
    return (
        wanted.get("volumeName") in (None, "", name_of(volume))
        and (wanted.get("storageClassName") or "") == (offered.get("storageClassName") or "")
        and set(wanted.get("accessModes") or []) <= set(offered.get("accessModes") or [])
        and quantity(request) <= _capacity(volume)
        and wanted.get("volumeMode") == offered.get("volumeMode")
    )


def _capacity(volume: Object) -> float:
    return quantity((volume["spec"].get("capacity") or {}).get("storage", "0"))


def _bind(store: Store, claims: Resource, claim: Object, volumes: Resource, volume: Object) -> None:
    reference = {
        "apiVersion": "v1",
        "kind": "PersistentVolumeClaim",
        "namespace": namespace_of(claim),
        "name": name_of(claim),
        "uid": claim["metadata"]["uid"],
    }
    store.put(
        volumes,
        {
            **volume,
            "spec": {**volume["spec"], "claimRef": reference},
            "status": {"phase": "Bound"},
        },
    )
    status = {
        "phase": "Bound",
        "accessModes": volume["spec"].get("accessModes", []),
        "capacity": volume["spec"].get("capacity", {}),
    }
    spec = {**claim["spec"], "volumeName": name_of(volume)}
    store.put(claims, {**claim, "spec": spec, "status": status})


def _release(store: Store, volumes: Resource, volume: Object, claims: Resource) -> None:
    """A bound volume whose claim is gone is Released: nothing else may bind it."""
    reference = volume["spec"].get("claimRef") or {}
    if (volume.get("status") or {}).get("phase") != "Bound":
        return
    claim = store.get(claims, namespace=reference["namespace"], name=reference["name"])
    if claim is None or claim["metadata"]["uid"] != reference["uid"]:
        store.put(volumes, {**volume, "status": {"phase": "Released"}})


def quantity(text: object) -> float:
    """Return the number a quantity stands for.

    Raises:
        ValueError: It is not a quantity.
    """
    match = _QUANTITY.fullmatch(str(text))
    if match is None or match[2] not in _DECIMAL | _BINARY:
        message = f"{text!r} is not a quantity: a number with a suffix such as m, k, Mi or Gi"
        raise ValueError(message)
    scale = 2.0 ** _BINARY[match[2]] if match[2] in _BINARY else 10.0 ** _DECIMAL[match[2]]
    return float(match[1]) * scale
