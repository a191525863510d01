"""What a configuration names and no deployment makes, put into the local AWS; a file a subject."""

from rehearsal.stand_ins.stand_ins import (
    DEFAULT_REGION,
    StandIn,
    account_of,
    named_account,
    stand_ins,
)

__all__ = ["DEFAULT_REGION", "StandIn", "account_of", "named_account", "stand_ins"]
