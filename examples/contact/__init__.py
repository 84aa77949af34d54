"""Things that touch, one file each: a function that makes the model, and what it should show."""
