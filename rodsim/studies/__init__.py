"""Studies: one scene or function under many parameters, on one machine or many, in one table."""
