"""Data-parallel training with mpi4py: a network of two layers learns a function by stochastic gradient descent.

Rank 0 makes the data and scatters it, parameters are broadcast, every rank computes gradients on its share of a batch,
and gradients are summed over the ranks: layer by layer, overlapped with the gradient of the layer below (Iallreduce), or
at once (Allreduce).

usage: train.py [double|integer] [overlapped|blocking] [epochs=N] [surviving]
  integer: gradients and losses are rounded to multiples of 2^-40 and added as integers, so that no order of additions can
           be seen in the result.
  surviving: for runs in which ranks die (docs/user/survive.md). Nothing but the training is collective, and every rank says in
           the end what it has: survivors must have the same.
"""
import hashlib
import os
import sys

import numpy as np
from mpi4py import MPI

comm = MPI.COMM_WORLD
rank, size = comm.Get_rank(), comm.Get_size()
FEATURES, HIDDEN, OUTPUTS = 12, 24, 3
SAMPLES, BATCH, RATE = 480, 24, 0.1
EPOCHS = next((int(word[7:]) for word in sys.argv if word.startswith("epochs=")), 12)
UNIT = 2.0 ** -40


class Sum:
    """The sum of an array over all ranks, on its way."""

    def __init__(self, array, integer, overlapped):
        self.integer = integer
        self.mine = np.rint(array / UNIT).astype(np.int64) if integer else np.ascontiguousarray(array)
        self.sum = np.empty_like(self.mine)
        self.request = comm.Iallreduce(self.mine, self.sum, op=MPI.SUM) if overlapped else None
        if not overlapped:
            comm.Allreduce(self.mine, self.sum, op=MPI.SUM)

    def get(self):
        if self.request is not None:
            self.request.Wait()
        return self.sum * UNIT if self.integer else self.sum


def scatter_rows(matrix, counts, columns):
    """A share of the rows of a matrix on rank 0; shares may differ."""
    share = np.empty((counts[rank], columns))
    elements = [count * columns for count in counts]
    comm.Scatterv([matrix, elements, None, MPI.DOUBLE] if rank == 0 else None, share, root=0)
    return share


def make_data():
    generator = np.random.default_rng(7)
    inputs = generator.standard_normal((SAMPLES, FEATURES))
    truth = generator.standard_normal((FEATURES, OUTPUTS))
    targets = np.tanh(inputs @ truth) + 0.01 * generator.standard_normal((SAMPLES, OUTPUTS))
    return inputs, targets


def main():
    # Settings travel as a pickled dictionary, shares as a pickled list.
    settings = comm.bcast({"integer": "integer" in sys.argv, "overlapped": "blocking" not in sys.argv}
                          if rank == 0 else None, root=0)
    integer, overlapped = settings["integer"], settings["overlapped"]
    counts = comm.bcast([SAMPLES * (i + 1) // size - SAMPLES * i // size for i in range(size)] if rank == 0 else None)
    inputs, targets = make_data() if rank == 0 else (None, None)
    x, y = scatter_rows(inputs, counts, FEATURES), scatter_rows(targets, counts, OUTPUTS)

    generator = np.random.default_rng(3)
    w1, b1 = np.empty((FEATURES, HIDDEN)), np.zeros(HIDDEN)
    w2, b2 = np.empty((HIDDEN, OUTPUTS)), np.zeros(OUTPUTS)
    if rank == 0:
        w1[:] = generator.standard_normal(w1.shape) / np.sqrt(FEATURES)
        w2[:] = generator.standard_normal(w2.shape) / np.sqrt(HIDDEN)
    for parameter in (w1, b1, w2, b2):
        comm.Bcast(parameter, root=0)

    if "surviving" in sys.argv:
        sys.stdout.write(f"rank {rank}: process {os.getpid()} trains\n")  # at once, among the lines of others
        sys.stdout.flush()
    batches = SAMPLES // BATCH
    for epoch in range(EPOCHS):
        epoch_loss = 0.0
        for batch in range(batches):
            rows = slice(len(x) * batch // batches, len(x) * (batch + 1) // batches)
            hidden = np.tanh(x[rows] @ w1 + b1)
            error = hidden @ w2 + b2 - y[rows]
            epoch_loss += float((error * error).sum())
            # The second layer's sums are on their way while the first layer's gradients are computed.
            gradient_w2 = Sum(hidden.T @ error, integer, overlapped)
            gradient_b2 = Sum(error.sum(axis=0), integer, overlapped)
            below = (error @ w2.T) * (1 - hidden * hidden)
            gradient_w1 = Sum(x[rows].T @ below, integer, overlapped)
            gradient_b1 = Sum(below.sum(axis=0), integer, overlapped)
            for parameter, gradient in ((w2, gradient_w2), (b2, gradient_b2), (w1, gradient_w1), (b1, gradient_b1)):
                parameter -= RATE / BATCH * gradient.get()
        loss = Sum(np.array([epoch_loss]), integer, overlapped=False).get()[0] / SAMPLES
        if "surviving" in sys.argv:
            first = loss if epoch == 0 else first
        elif rank == 0:
            print(f"epoch {epoch} loss {loss:.17g}")

    if "surviving" in sys.argv:
        digest = hashlib.sha256(b"".join(parameter.tobytes() for parameter in (w1, b1, w2, b2))).hexdigest()
        sys.stdout.write(f"rank {rank}: loss {first:.6g} -> {loss:.6g}, parameters {digest}\n")
        return

    # Parameters must be the same everywhere; metrics of the ranks are gathered as pickled objects and as an array.
    digests = comm.allgather(b"".join(parameter.tobytes() for parameter in (w1, b1, w2, b2)))
    worst = np.abs(np.tanh(x @ w1 + b1) @ w2 + b2 - y).max(axis=0)
    worst_of_ranks = np.empty((size, OUTPUTS)) if rank == 0 else None
    comm.Gather(worst, worst_of_ranks, root=0)
    samples = comm.gather({"rank": rank, "samples": len(x)}, root=0)
    comm.Barrier()
    if rank == 0:
        print("parameters equal on all ranks:", "yes" if len(set(digests)) == 1 else "no")
        print("norms", *(f"{np.sqrt((p * p).sum()):.17g}" for p in (w1, b1, w2, b2)))
        print("samples", *(entry["samples"] for entry in samples))
        for i, row in enumerate(worst_of_ranks):
            print(f"worst error on rank {i}:", *(f"{value:.17g}" for value in row))


main()
