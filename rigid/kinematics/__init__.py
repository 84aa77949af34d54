"""Compiled kinematics of frames (poses, rates, pull-back of duals) and geometry of convex bodies, segments, triangles."""
