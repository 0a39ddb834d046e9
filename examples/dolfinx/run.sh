#!/bin/sh
# DOLFINx (Debian's, for Open MPI): two of its own demos, linear elasticity with a multigrid solver, and the Stokes
# equations solved in four ways. They exchange values along the cuts of their meshes by neighbourhood collectives. The
# test compares the norms of the solutions. The mesh is divided otherwise from run to run, also without Circoll, so that
# solutions differ by the tolerance of their solvers, and the numbers of iterations differ, too.
. "$(dirname "$0")/../common.sh"

[ "$mpi" = openmpi ] || skip "Debian builds DOLFINx for Open MPI"
demos=/usr/share/dolfinx/demo-python
/usr/bin/python3 -c 'import dolfinx' 2>/dev/null && [ -d "$demos" ] ||
  skip "no DOLFINx (packages python3-dolfinx, dolfinx-doc)"

work=$(mktemp -d) # the demos write their solutions where they run
trap 'rm -r "$work"' EXIT
cp "$demos/demo_elasticity.py" "$demos/demo_stokes.py" "$work"
cd "$work" || exit
export OMP_NUM_THREADS=1 # of PETSc's BLAS
for demo in elasticity stokes; do
  compare --program dolfinx --variant "$demo" --unsteady --ignore '^(?!.*(Norm of|vector norm))' --close '[nN]orm' 1e-5 0 \
    --served allreduce,neighbor_alltoallv -- /usr/bin/python3 "$work/demo_$demo.py"
done
exit $status
