"""Errors of `einkorn port`: what was given, what was expected, what to do."""


class PortError(Exception):
    """A request that cannot be served. Says the argument, what was expected, what came, a hint."""

    def __init__(self, argument: str, expected: str, got: str, hint: str = "") -> None:
        text = f"port: {argument}: expected {expected}, got {got}"
        super().__init__(text + (f"\n  hint: {hint}" if hint else ""))
