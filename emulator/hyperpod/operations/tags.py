"""Tags of clusters."""

from __future__ import annotations

from emulator.hyperpod.operations.call import Answer, Backend, Call, Handler, page
from emulator.hyperpod.simulation.errors import validation_error

# Most tags that a SageMaker resource can have (CreateCluster.Tags).
MAXIMUM_TAGS = 50


class TagOperations:
    """The tag operations."""

    def __init__(self, *, backend: Backend) -> None:
        self._backend = backend

    @property
    def handlers(self) -> dict[str, Handler]:
        """Handlers by operation name."""
        return {"AddTags": self._add, "ListTags": self._list, "DeleteTags": self._delete}

    def _tags(self, call: Call) -> dict[str, str]:
        return self._backend.registry.find(call.request["ResourceArn"], call.caller).tags

    def _add(self, call: Call) -> Answer:
        tags = self._tags(call)
        added = {tag["Key"]: tag["Value"] for tag in call.request["Tags"]}
        reserved = [key for key in added if key.lower().startswith("aws:")]
        if reserved:
            message = f"Tag key '{reserved[0]}': the prefix 'aws:' is reserved."
            raise validation_error(message)
        if len(tags | added) > MAXIMUM_TAGS:
            message = f"A resource can have at most {MAXIMUM_TAGS} tags."
            raise validation_error(message)
        self._change(call, tags | added)
        return {"Tags": _listed(tags | added)}

    def _list(self, call: Call) -> Answer:
        cluster = self._backend.registry.find(call.request["ResourceArn"], call.caller)
        visible = cluster.tags_at(call.now - self._backend.surroundings.unknowns.tag_lag)
        shown, more = page(_listed(visible), call.request)
        return {"Tags": list(shown), **more}

    def _delete(self, call: Call) -> Answer:
        gone = set(call.request["TagKeys"])
        tags = self._tags(call)
        self._change(call, {key: value for key, value in tags.items() if key not in gone})
        return {}

    def _change(self, call: Call, tags: dict[str, str]) -> None:
        cluster = self._backend.registry.find(call.request["ResourceArn"], call.caller)
        cluster.former_tags.append((call.now, cluster.tags))
        cluster.tags = tags


def _listed(tags: dict[str, str]) -> list[dict[str, str]]:
    return [{"Key": key, "Value": value} for key, value in tags.items()]
