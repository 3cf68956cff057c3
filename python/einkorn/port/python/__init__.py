"""Python: functions, calls, and what a name stands for."""
