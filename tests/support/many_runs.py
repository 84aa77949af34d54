"""Shared models and helpers: many runs."""

DT = 0.005
