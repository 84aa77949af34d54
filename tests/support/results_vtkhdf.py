"""Models and helpers of several test files: results vtkhdf."""


def vtk_steps(path):
    """(time, polydata) of every step, read by vtkHDFReader."""
    from vtkmodules.vtkCommonDataModel import vtkPolyData
    from vtkmodules.vtkCommonExecutionModel import vtkStreamingDemandDrivenPipeline as Pipeline
    from vtkmodules.vtkIOHDF import vtkHDFReader

    reader = vtkHDFReader()
    reader.SetFileName(str(path))
    assert reader.CanReadFile(str(path))
    reader.UpdateInformation()
    times = reader.GetOutputInformation(0).Get(Pipeline.TIME_STEPS()) or (0.0,)
    steps = []
    for t in times:
        reader.UpdateTimeStep(t)
        data = vtkPolyData()
        data.DeepCopy(reader.GetOutput())
        steps.append((t, data))
    return steps
