"""Which instructions the machine code of a source has."""
