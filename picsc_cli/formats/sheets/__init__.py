"""Tables that several formats share."""
