from gatelib.gate import gate, gate_add

__all__ = ["gate", "gate_add"]
