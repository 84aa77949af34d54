"""Advance mirror-symmetric models by the step of `em` with three unknowns per frame."""
