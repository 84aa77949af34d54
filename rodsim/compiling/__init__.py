"""Compilation of kernels before they are needed, in several processes: `rodsim compile`."""
