"""Charts: multibody models as mechanical systems, with directors or quaternions as coordinates."""
