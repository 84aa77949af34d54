"""Examples of contact. Each file has a function that makes the model, and states the expected result."""
