"""Examination of the installation by `rodsim doctor`.

The process imports only Python's standard library; anything that may be broken is tried in separate processes
(`rodsim.doctor.probes`), which may crash or hang.
"""
