"""The patches clients send: JSON merge patch and JSON patch."""

import jsonpatch

from rehearsal.kubernetes.errors import ApiError, Object, bad_request


def merge_patched(item: Object, patch: Object) -> Object:
    """Return the object after a JSON merge patch (RFC 7396)."""
    result = dict(item)
    for key, value in patch.items():
        if value is None:
            result.pop(key, None)
        elif isinstance(value, dict):
            current = result.get(key)
            result[key] = merge_patched(current if isinstance(current, dict) else {}, value)
        else:
            result[key] = value
    return result


def json_patched(item: Object, operations: list[Object]) -> Object:
    """Return the object after a JSON patch (RFC 6902).

    Raises:
        ApiError: An operation does not fit the object (422), or is no operation (400).
    """
    try:
        patched: Object = jsonpatch.apply_patch(item, operations)
    except jsonpatch.InvalidJsonPatch as error:
        raise bad_request(f"error decoding patch: {error}") from error
    except (jsonpatch.JsonPatchException, jsonpatch.JsonPointerException) as error:
        message = f"the server rejected our request due to an error in our request: {error}"
        raise ApiError(422, "Invalid", message) from error
    return patched
