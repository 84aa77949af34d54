"""Compiled control laws (t, h, measured, parameters, memory, outputs) -> 0, see `discretization.time.sampling`."""

from __future__ import annotations

from discretization.time.sampling import LAW
from rigid.compilation.decorators import compiled


@compiled(LAW)
def limited_pid(t, h, measured, parameters, memory, outputs):
    """Write kp e + ki (sum of e h) + kd de/dt between its limits; memory: sum of e h, last e, whether there is one."""
    kp, ki, kd, target, low, high = (
        parameters[0],
        parameters[1],
        parameters[2],
        parameters[3],
        parameters[4],
        parameters[5],
    )
    e = target - measured[0]
    rate = 0.0
    if measured.shape[0] > 1:
        rate = -measured[1]
    elif memory[2] > 0.0:
        rate = (e - memory[1]) / h
    total = memory[0] + h * e
    u = kp * e + ki * total + kd * rate
    outputs[0] = min(max(u, low), high)
    if low < u < high or (u - outputs[0]) * ki * e < 0.0:
        memory[0] = total
    memory[1], memory[2] = e, 1.0
    return 0


@compiled(LAW)
def state_feedback(t, h, measured, parameters, memory, outputs):
    """Write u = K (target - y); parameters: K row by row, target."""
    n = measured.shape[0]
    for i in range(outputs.shape[0]):
        total = 0.0
        for j in range(n):
            total += parameters[i * n + j] * (parameters[outputs.shape[0] * n + j] - measured[j])
        outputs[i] = total
    return 0


@compiled(LAW)
def held_outputs(t, h, measured, parameters, memory, outputs):
    """Leave the outputs as they are; set them to the parameters at the first sample. memory: whether they have been set."""
    if memory[0] == 0.0:
        for i in range(outputs.shape[0]):
            outputs[i] = parameters[min(i, parameters.shape[0] - 1)]
        memory[0] = 1.0
    return 0


@compiled(LAW)
def interpolated(t, h, measured, parameters, memory, outputs):
    """Write outputs by linear interpolation; parameters: k values x of the input, then a row of outputs for each."""
    count, u = outputs.shape[0], measured[0]
    k = parameters.shape[0] // (1 + count)
    i = 0
    while i < k - 2 and u > parameters[i + 1]:
        i += 1
    x0, x1 = parameters[i], parameters[i + 1]
    f = min(max((u - x0) / (x1 - x0), 0.0), 1.0)
    for j in range(count):
        y0, y1 = parameters[k + i * count + j], parameters[k + (i + 1) * count + j]
        outputs[j] = y0 + f * (y1 - y0)
    return 0
