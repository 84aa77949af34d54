"""Two results beside each other: what moves alike in both, how far apart it is, and a picture of it."""
