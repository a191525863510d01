"""A DynamoDB table behind boto3's calling convention: whole items, and conditions on a version."""

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any

from tests.support.provisioner.fake_s3 import client_error


@dataclass
class FakeTable:
    """A table whose partition key is `resource_id`; None of `items`: someone deleted it."""

    items: dict[str, dict[str, Any]] | None = field(default_factory=dict)

    def get_item(
        self, *, TableName: str, Key: Mapping[str, Mapping[str, str]], ConsistentRead: bool
    ) -> dict[str, Any]:
        assert ConsistentRead, TableName
        item = self._all("GetItem").get(Key["resource_id"]["S"])
        return {"Item": {**item}} if item else {}

    def put_item(
        self,
        *,
        TableName: str,
        Item: dict[str, Any],
        ConditionExpression: str,
        ExpressionAttributeValues: Mapping[str, Mapping[str, str]] | None = None,
    ) -> dict[str, Any]:
        key, items = Item["resource_id"]["S"], self._all("PutItem")
        there = items.get(key)
        seen = (ExpressionAttributeValues or {}).get(":version")
        met = {
            "attribute_not_exists(resource_id)": there is None,
            "version = :version": there is not None and there["version"] == seen,
        }
        if not met[ConditionExpression]:
            raise client_error("ConditionalCheckFailedException", "PutItem", TableName)
        items[key] = {**Item}
        return {}

    def _all(self, operation: str) -> dict[str, dict[str, Any]]:
        if self.items is None:
            raise client_error("ResourceNotFoundException", operation, "Table not found")
        return self.items
