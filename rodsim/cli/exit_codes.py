"""Exit codes of the command."""

OK = 0
PROBLEM_FOUND = (
    1  # `reproduce`: a claim differs without a reason; `doctor`: something is broken; `compile` failed
)
BAD_INPUT = 2
NOT_CONVERGED = 3  # the result so far is saved
CHECK_FAILED = 4  # or results differ from each other, or from a reference, by more than allowed
INTERRUPTED = 130  # Ctrl-C
TERMINATED = 143  # SIGTERM, for example from a batch queue that needs the machine
