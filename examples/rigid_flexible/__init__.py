"""Mechanisms with flexible parts and their rigid twins: how the difference decreases as the parts become stiffer."""
