"""Kubernetes quantities: `1200Gi`, `500m`."""

import re

_QUANTITY = re.compile(r"([+-]?[0-9.]+)([a-zA-Z]*)")
_DECIMAL = {"n": -9, "u": -6, "m": -3, "": 0, "k": 3, "M": 6, "G": 9, "T": 12, "P": 15, "E": 18}
_BINARY = {"Ki": 10, "Mi": 20, "Gi": 30, "Ti": 40, "Pi": 50, "Ei": 60}


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
