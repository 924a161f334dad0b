"""What clients compute on their own rows."""
