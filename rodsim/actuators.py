"""Laws of actuators for `Model.add_actuator`: motors, cylinders, linear systems, and equations as texts."""

from rodsim.components.actuator_laws import DCMotor, Equations, FirstOrderLag, HydraulicCylinder, StateSpace

__all__ = ["DCMotor", "Equations", "FirstOrderLag", "HydraulicCylinder", "StateSpace"]
