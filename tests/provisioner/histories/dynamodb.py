"""The journal's table, under virtual time: reads are consistent, calls may fail."""

from dataclasses import dataclass

from tests.provisioner.histories.world import World, called
from tests.support.provisioner.fake_table import FakeTable


@dataclass(kw_only=True)
class Table(FakeTable):
    """The table, whose calls take time and may go wrong."""

    world: World

    get_item = called("dynamodb", "GetItem")(FakeTable.get_item)
    put_item = called("dynamodb", "PutItem")(FakeTable.put_item)
