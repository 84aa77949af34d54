"""Read the VTKHDF part of result files with VTK's own reader."""


def vtk_steps(path):
    """(time, polydata by name of the block) of every step, read by vtkHDFReader."""
    from vtkmodules.vtkCommonDataModel import vtkMultiBlockDataSet
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
        data = vtkMultiBlockDataSet()
        data.DeepCopy(reader.GetOutput())
        blocks = range(data.GetNumberOfBlocks())
        steps.append((t, {data.GetMetaData(k).Get(data.NAME()): data.GetBlock(k) for k in blocks}))
    return steps
