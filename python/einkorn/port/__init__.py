"""Brings an operator over from another repository without losing its meaning.

Needs the parsers of the extra `port`; no torch, no GPU, and not this library's native part. What
the verbs call: `survey.assemble`, `migration.answers`, `scaffold.files`, `verify.lint`,
`emit.unit` and `probe.report`.
"""

from einkorn.port.errors import PortError
from einkorn.port.model import Contract, Gap, Launch, Registration, Survey

__all__ = ["Contract", "Gap", "Launch", "PortError", "Registration", "Survey"]
