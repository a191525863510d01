"""What was told, in a table of DynamoDB, so that nothing is told twice.

An item is a fault of a cluster. Who writes it first tells of it; writes are conditional. Who has
not told of it when it can no longer be running has failed, and the next one tells, which may be its
repetition by Lambda.
"""

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from functools import partial
from typing import Any

from hyperpod_shared.aws_errors import AwsClient
from hyperpod_shared.items import is_written, number

REMEMBERED_SECONDS = 24 * 3600
"""What lasts is told again after a day."""
# A cluster that exists again after a deletion has another ARN.
_PARTITION, _SORT = "cluster_arn", "fault"
# Not begun by another; or over, and begun again since; or so long ago that DynamoDB may forget it,
# which it does within days; or begun by this invocation, whose answer was lost; or by one that has
# ended without telling it.
# https://docs.aws.amazon.com/amazondynamodb/latest/developerguide/TTL.html
_IS_NEW = (
    f"attribute_not_exists({_SORT}) OR expires_at <= :now OR over_at < :happened "
    # Events have the second in which they happened, so one may be of before or after another.
    "OR (over_at = :happened AND happened < :happened) "
    "OR (is_told = :no AND (claimed_by = :invocation OR since < :ended))"
)
# A fault that was seen to be over, and happened again after that, is not.
_IS_NOT_LATER = f"attribute_not_exists({_SORT}) OR happened <= :at"
LONGEST_RUN_SECONDS = 60
"""The time-out of the function. Lambda repeats a failed invocation no sooner."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Memory:
    """What was told of a cluster; the clock returns the time in seconds since the epoch."""

    dynamodb: AwsClient
    table: str
    cluster_arn: str
    clock: Callable[[], float]

    def known(self) -> dict[str, float]:
        """Return the faults that are told or watched and not over, and since when."""
        pages = self.dynamodb.get_paginator("query").paginate(
            TableName=self.table,
            ConsistentRead=True,
            KeyConditionExpression=f"{_PARTITION} = :cluster",
            ExpressionAttributeValues={":cluster": {"S": self.cluster_arn}},
        )
        return {
            item[_SORT]["S"]: float(item["since"]["N"])
            for page in pages
            for item in page["Items"]
            if self._is_known(item)
        }

    def _is_known(self, item: Mapping[str, Mapping[str, Any]]) -> bool:
        now = self.clock()
        if "over_at" in item or float(item["expires_at"]["N"]) <= now:
            return False
        is_being_told = float(item["since"]["N"]) >= now - LONGEST_RUN_SECONDS
        return bool(item["is_told"]["BOOL"]) or is_being_told

    def claim(self, fault: str, *, invocation: str, happened: float) -> bool:
        """Return whether a fault is this invocation's to tell.

        What no other invocation has, stands for this one; a repetition by Lambda is another one.
        """
        now = self.clock()
        put = partial(
            self.dynamodb.put_item,
            TableName=self.table,
            Item={
                **self._key(fault),
                "since": number(now),
                "happened": number(happened),
                "expires_at": number(int(now) + REMEMBERED_SECONDS),
                "claimed_by": {"S": invocation},
                "is_told": {"BOOL": False},
            },
            ConditionExpression=_IS_NEW,
            ExpressionAttributeValues={
                ":now": number(now),
                ":happened": number(happened),
                ":invocation": {"S": invocation},
                ":no": {"BOOL": False},
                ":ended": number(now - LONGEST_RUN_SECONDS),
            },
        )
        return is_written(put)

    def told(self, fault: str) -> None:
        """Note that a fault that was claimed has been told."""
        self._set(
            fault,
            "is_told = :yes",
            condition=f"attribute_exists({_SORT})",
            values={":yes": {"BOOL": True}},
        )

    def watch(self, fault: str) -> None:
        """Note something that is told if it lasts."""
        if self.claim(fault, invocation="", happened=self.clock()):
            self.told(fault)

    def over(self, fault: str, *, at: float) -> None:
        """Note that a fault is over: what happened before that time is late, later is new.

        The fault may not be known: the news of it may come later.
        """
        self._set(
            fault,
            "over_at = :at, happened = if_not_exists(happened, :never), "
            "since = if_not_exists(since, :at), is_told = if_not_exists(is_told, :yes), "
            "expires_at = if_not_exists(expires_at, :expires)",
            condition=_IS_NOT_LATER,
            values={
                ":at": number(at),
                ":never": number(0.0),
                ":yes": {"BOOL": True},
                ":expires": number(int(at) + REMEMBERED_SECONDS),
            },
        )

    def _set(
        self, fault: str, assignment: str, *, condition: str, values: Mapping[str, object]
    ) -> None:
        update = partial(
            self.dynamodb.update_item,
            TableName=self.table,
            Key=self._key(fault),
            UpdateExpression=f"SET {assignment}",
            ConditionExpression=condition,
            ExpressionAttributeValues=values,
        )
        is_written(update)  # else DynamoDB has forgotten it in between, or it has happened again

    def _key(self, fault: str) -> dict[str, dict[str, str]]:
        return {_PARTITION: {"S": self.cluster_arn}, _SORT: {"S": fault}}
