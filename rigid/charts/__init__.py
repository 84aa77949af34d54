"""Charts: multibody models as mechanical systems, in directors or quaternions."""
