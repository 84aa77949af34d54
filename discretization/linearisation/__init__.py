"""Small motions about a state: mass, damping, gyroscopic, stiffness and constraint matrices, and their spectra."""
