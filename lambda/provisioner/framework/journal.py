"""The journal: which request has a resource, and what it notes about it.

An item stands for a resource. Reads are strongly consistent, and a write is refused if another one
came since the item was read, so two requests never believe at once that they have the resource.
What a request is going to do, it notes before it does it. See ADR 43.
"""

import json
import zlib
from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from functools import lru_cache, partial
from typing import Any
from uuid import uuid4

from botocore.exceptions import ClientError

from hyperpod_shared.aws_errors import AwsClient, is_not_found
from hyperpod_shared.errors import NotReadyError
from hyperpod_shared.items import is_written, number
from provisioner.framework import log
from provisioner.framework.retry import Clock, aws_retried

_KEY, _VERSION = "resource_id", "version"
# A function that CloudFormation gave up may still come; DynamoDB deletes an item some time later.
_KEPT_SECONDS = 24 * 3600


@dataclass(frozen=True, slots=True, kw_only=True)
class Entry:
    """What is noted of a resource.

    Attributes:
        request: The id of the request that has it; empty if there is no item.
        former: Those that had it before, the last ones: they get it no more.
        operation: When the stack's operation of that request began, in seconds since the epoch.
        began_at: When the request began.
        notes: What the resource type notes: JSON.
        version: How often the item was written.
        is_readable: Whether there is a table; who deletes it takes the notes.
    """

    request: str = ""
    former: tuple[str, ...] = ()
    operation: float = 0.0
    began_at: float = 0.0
    notes: Mapping[str, Any] = field(default_factory=dict)
    version: int = 0
    is_readable: bool = True

    def is_later(self, *, operation: float, began_at: float) -> bool:
        """Say whether the request that has the resource came after another one."""
        return (self.operation, self.began_at) > (operation, began_at)


@dataclass(frozen=True, slots=True, kw_only=True)
class Journal:
    """The item of one resource in the table."""

    dynamodb: AwsClient
    table: str
    resource_id: str
    clock: Clock

    def read(self) -> Entry:
        """Return what is noted now."""
        return _entry(self._item())

    def write(self, entry: Entry, *, is_gone: bool = False) -> Entry:
        """Write an entry over the one that it was made of; `is_gone` says that it may be deleted.

        Raises:
            NotReadyError: Another request has written since.
        """
        if not entry.is_readable:
            return entry
        token, later = uuid4().hex, replace(entry, version=entry.version + 1)
        item: dict[str, Any] = {
            _KEY: {"S": self.resource_id},
            _VERSION: number(later.version),
            "written_by": {"S": token},
            "request": {"S": entry.request},
            "former": {"S": " ".join(entry.former)},
            "operation": number(entry.operation),
            "began_at": number(entry.began_at),
            "notes": {"B": _packed(entry.notes)},
        }
        if is_gone:
            item["expires_at"] = number(int(self.clock.now()) + _KEPT_SECONDS)
        condition: dict[str, Any] = {"ConditionExpression": f"attribute_not_exists({_KEY})"}
        if entry.version:
            condition = {
                "ConditionExpression": f"{_VERSION} = :version",
                "ExpressionAttributeValues": {":version": number(entry.version)},
            }
        put = partial(self.dynamodb.put_item, TableName=self.table, Item=item, **condition)
        if not aws_retried(lambda: is_written(put), clock=self.clock):
            written = self._item().get("written_by", {}).get("S")
            if written != token:  # else the answer of a former attempt was lost
                raise NotReadyError(
                    f"Another request writes about {self.resource_id}", next_step="Deploy again."
                )
        return later

    def _item(self) -> Mapping[str, Any]:
        get = partial(
            self.dynamodb.get_item,
            TableName=self.table,
            Key={_KEY: {"S": self.resource_id}},
            ConsistentRead=True,
        )
        try:
            answer: dict[str, Any] = aws_retried(get, clock=self.clock)
        except ClientError as error:
            if not is_not_found(error):
                raise
            log.warning("the journal's table is gone", table=self.table)
            return {_VERSION: {"N": "-1"}}
        item: dict[str, Any] = answer.get("Item", {})
        return item


def _entry(item: Mapping[str, Any]) -> Entry:
    version = int(item.get(_VERSION, {"N": "0"})["N"])
    if version <= 0:
        return Entry(is_readable=version == 0)
    return Entry(
        request=item["request"]["S"],
        former=tuple(item["former"]["S"].split()),
        operation=float(item["operation"]["N"]),
        began_at=float(item["began_at"]["N"]),
        notes=_unpacked(item["notes"]["B"]),
        version=version,
    )


def _packed(notes: Mapping[str, Any]) -> bytes:
    """Return notes as the table has them: those of 100 groups would fill an item of 400 KB.

    https://docs.aws.amazon.com/amazondynamodb/latest/developerguide/Constraints.html
    """
    return zlib.compress(json.dumps(notes).encode())


@lru_cache(maxsize=1)  # each call of a run reads the item again, and it seldom changed
def _unpacked(packed: bytes) -> Mapping[str, Any]:
    notes: Mapping[str, Any] = json.loads(zlib.decompress(packed))
    return notes
