"""Operations that check."""

from . import case, floats

CASES = [
    case("NoOp", expect=[]),
    case("ControlTrigger", expect=[]),
    case("CheckNumerics", floats(2, 3), message="here", expect=lambda x: x),
    case("Assert", True, [floats(2)], expect=[]),
]
