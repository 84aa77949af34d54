"""Runs of a model: checked arguments (`plan`), set-up and result (`run`), steps (`march`), several runs at once (`batch`)."""
