"""What was told, in a table of DynamoDB, so that nothing is told twice.

An item is a fault of a cluster. Who writes it first tells of it; writes are conditional. An
invocation that is repeated has the same request id, and goes on with what it began.
"""

from collections.abc import Callable, Mapping
from typing import Any, Protocol

from botocore.exceptions import ClientError

from hyperpod_shared.aws_errors import code

REMEMBERED_SECONDS = 24 * 3600
"""What lasts is told again after a day."""
# A cluster that exists again after a deletion has another ARN.
_PARTITION, _SORT = "cluster_arn", "fault"
# Not begun by another; or over, and begun again since; or so long ago that DynamoDB may forget it,
# which it does within days; or begun by this request, whose answer was lost; or by one that Lambda
# has given up, after two repetitions within minutes.
# https://docs.aws.amazon.com/amazondynamodb/latest/developerguide/TTL.html
_IS_NEW = (
    f"attribute_not_exists({_SORT}) OR expires_at <= :now OR over_at < :happened "
    "OR (is_told = :no AND (claimed_by = :request OR since < :given_up))"
)
_GIVEN_UP_SECONDS = 15 * 60
_REFUSED = "ConditionalCheckFailedException"


class DynamoDbApi(Protocol):
    """The calls of DynamoDB that are made."""

    def query(self, **request: object) -> Mapping[str, Any]:
        """See AWS."""

    def put_item(self, **request: object) -> Mapping[str, Any]:
        """See AWS."""

    def update_item(self, **request: object) -> Mapping[str, Any]:
        """See AWS."""


class Memory:
    """What was told of a cluster.

    Args:
        dynamodb: The client.
        table: Name of the table.
        cluster_arn: The cluster.
        clock: Returns the time in seconds since the epoch.
    """

    def __init__(
        self,
        *,
        dynamodb: DynamoDbApi,
        table: str,
        cluster_arn: str,
        clock: Callable[[], float],
    ) -> None:
        self._dynamodb = dynamodb
        self._table = table
        self._cluster_arn = cluster_arn
        self._clock = clock

    def known(self) -> dict[str, float]:
        """Return the faults that are told or watched and not over, and since when."""
        found: dict[str, float] = {}
        start: dict[str, object] = {}
        while True:
            page = self._dynamodb.query(
                TableName=self._table,
                ConsistentRead=True,
                KeyConditionExpression=f"{_PARTITION} = :cluster",
                ExpressionAttributeValues={":cluster": {"S": self._cluster_arn}},
                **start,
            )
            for item in page["Items"]:
                if "over_at" not in item and float(item["expires_at"]["N"]) > self._clock():
                    found[item[_SORT]["S"]] = float(item["since"]["N"])
            if "LastEvaluatedKey" not in page:
                return found
            start = {"ExclusiveStartKey": page["LastEvaluatedKey"]}

    def claim(self, fault: str, *, request: str, happened: float) -> bool:
        """Return whether a fault is this request's to tell.

        Args:
            fault: The fault.
            request: Id of the invocation, which repetitions of it have too.
            happened: When it happened, in seconds since the epoch.
        """
        now = self._clock()
        try:
            self._dynamodb.put_item(
                TableName=self._table,
                Item={
                    **self._key(fault),
                    "since": _number(now),
                    "expires_at": _number(int(now) + REMEMBERED_SECONDS),
                    "claimed_by": {"S": request},
                    "is_told": {"BOOL": False},
                },
                ConditionExpression=_IS_NEW,
                ExpressionAttributeValues={
                    ":now": _number(now),
                    ":happened": _number(happened),
                    ":request": {"S": request},
                    ":no": {"BOOL": False},
                    ":given_up": _number(now - _GIVEN_UP_SECONDS),
                },
            )
        except ClientError as error:
            if code(error) == _REFUSED:
                return False
            raise
        return True

    def told(self, fault: str) -> None:
        """Note that a fault that was claimed has been told."""
        self._set(fault, "is_told = :value", {"BOOL": True})

    def watch(self, fault: str) -> None:
        """Note something that is told if it lasts."""
        self.claim(fault, request="", happened=self._clock())

    def over(self, fault: str) -> None:
        """Note that a fault is over: events from before it are late, those after it are new."""
        self._set(fault, "over_at = :value", _number(self._clock()))

    def _set(self, fault: str, assignment: str, value: Mapping[str, object]) -> None:
        try:
            self._dynamodb.update_item(
                TableName=self._table,
                Key=self._key(fault),
                UpdateExpression=f"SET {assignment}",
                ConditionExpression=f"attribute_exists({_SORT})",
                ExpressionAttributeValues={":value": value},
            )
        except ClientError as error:
            # DynamoDB has forgotten it in between.
            if code(error) != _REFUSED:
                raise

    def _key(self, fault: str) -> dict[str, dict[str, str]]:
        return {_PARTITION: {"S": self._cluster_arn}, _SORT: {"S": fault}}


def _number(value: float) -> dict[str, str]:
    return {"N": repr(round(value, 3))}
