"""What the command tells the shell that called it."""

OK = 0
FOUND_WRONG = 1  # `reproduce`: a claim differs without a reason; `doctor`: something is broken
BAD_INPUT = 2
NOT_CONVERGED = 3  # what was computed is kept
LAW_BROKEN = 4  # or further apart, or further from a reference, than allowed
INTERRUPTED = 130  # Ctrl-C
TERMINATED = 143  # SIGTERM: a queue that needs the machine
