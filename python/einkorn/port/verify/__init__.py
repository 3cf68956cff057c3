"""The lint of ops: what each has, and what it lacks."""
