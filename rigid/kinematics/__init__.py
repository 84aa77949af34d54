"""Poses of frames, their rates and what pulls duals back, in compiled code."""
