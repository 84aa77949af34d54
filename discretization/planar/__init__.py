"""Models that are mirror-symmetric about a plane, advanced by the step of `em` with three unknowns a frame."""
