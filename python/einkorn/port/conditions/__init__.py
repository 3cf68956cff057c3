"""Conditions of both languages in one form, and where their names come from."""
