"""Models and helpers of several test files: many runs."""

DT = 0.005
