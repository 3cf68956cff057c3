"""What a launch path requires of its arguments, and who states it."""
