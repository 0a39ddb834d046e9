"""transforms.py slabs|pencils: transforms arrays of three dimensions by mpi4py-fft and back, and prints what they are (run.sh)."""
import sys

import numpy
from mpi4py import MPI
from mpi4py_fft import PFFT, newDistArray

comm = MPI.COMM_WORLD
shape = (24, 20, 30)
whole = numpy.random.default_rng(1).standard_normal(shape)

# FFTW would measure otherwise, and choose another transform from run to run.
for dtype in ("d", "D"):
    fft = PFFT(comm, shape, axes=(0, 1, 2), dtype=dtype, slab=sys.argv[1] == "slabs",
               planner_effort="FFTW_ESTIMATE")
    values = newDistArray(fft, False)
    values[:] = whole[values.local_slice()] * (1 if dtype == "d" else 1 + 2j)
    transformed = fft.forward(values)
    back = fft.backward(transformed)
    mine, sums = numpy.array([(numpy.abs(transformed) ** 2).sum(), numpy.abs(back - values).max()]), numpy.empty(2)
    comm.Allreduce(mine[:1], sums[:1], MPI.SUM)
    comm.Allreduce(mine[1:], sums[1:], MPI.MAX)
    norm, worst = float(sums[0]) ** 0.5, sums[1]
    samples = comm.gather([complex(one) for one in transformed.ravel()[:2]])
    if comm.rank == 0:
        print(f"{dtype} on {comm.size} ranks, error below 1e-14: {worst < 1e-14}")
        print(f"norm {norm!r}")
        print("samples", *(f"{one.real!r} {one.imag!r}" for two in samples for one in two))
