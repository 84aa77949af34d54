"""The other programs: a file for each and its kind of case, with `run(case, resolution, h)`."""
