"""Published examples of the field, run and compared with what their papers claim: `rodsim reproduce`.

Each module holds the systems of one example as functions, and `study()`, which runs it.
"""
