"""Compare two results: points, energies and joint forces that both have, their differences, and a picture."""
