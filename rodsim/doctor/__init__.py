"""What `rodsim doctor` looks at. It imports nothing but Python's own library: what may be broken is tried in processes of
its own (`rodsim.doctor.probes`), where it may crash or hang.
"""
