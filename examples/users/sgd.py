"""Stochastic gradient descent on ranks that have data of their own, with mpi4py.

Each iteration adds a gradient of 0.8 MB by Allreduce, and a loss by mpi4py's allreduce of Python objects. A physicist wrote
it to try Circoll (examples/users/run.sh). usage: sgd.py [ITERATIONS]
"""
import sys
import time

import numpy as np
from mpi4py import MPI

comm = MPI.COMM_WORLD
iterations = int(sys.argv[1]) if len(sys.argv) > 1 else 300
settings = comm.bcast({"rate": 0.1, "dimensions": 100_000} if comm.rank == 0 else None)  # as a Python object
dimensions = settings["dimensions"]
random = np.random.default_rng(comm.rank)
samples = random.standard_normal((20, dimensions))
labels = np.sign(samples[:, :5].sum(1))
weights = np.zeros(dimensions)
gradient = np.empty(dimensions)
loss, in_collectives_s, begin = 0.0, 0.0, time.time()
for _ in range(iterations):
    margins = labels * (samples @ weights)
    own = -(labels / (1 + np.exp(margins))) @ samples / len(labels)
    before = time.time()
    comm.Allreduce(own, gradient, op=MPI.SUM)
    loss = comm.allreduce(float(np.log1p(np.exp(-margins)).mean()))
    in_collectives_s += time.time() - before
    weights -= settings["rate"] * gradient / comm.size
elapsed = time.time() - begin
losses = comm.gather(loss)
if comm.rank == 0:
    assert losses == [loss] * comm.size, "all ranks have the same loss"
    print(f"sgd: {comm.size} ranks, {iterations} iterations")
    print(f"seconds {elapsed:.3f}, in collectives {in_collectives_s:.3f}")
    print(f"loss {loss / comm.size:.17g}\nweights {float(np.linalg.norm(weights)):.17g}")
