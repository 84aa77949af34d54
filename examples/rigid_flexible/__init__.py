"""Mechanisms with flexible parts, and their rigid twins: how fast one becomes the other as the parts get stiffer."""
