#!/bin/bash
# library_names_test.sh LIBDIR CIRCOLL ABI OPENMPI MPICH: programs that are linked to libmpi_abi.so.1, and to libraries
# of Open MPI and MPICH that have the same name, libmpi.so.12 or libmpi.so.0. LIBDIR holds the drop-ins.
set -u
libdir=$1 circoll=$2 abi=$3
failed=0
fail() { echo "FAILED: $*"; failed=1; }
unset LD_PRELOAD OMPI_COMM_WORLD_SIZE PMI_RANK PMI_SIZE

# Programs of the standard's ABI run under a drop-in of another MPI, after one sentence. `circoll run` preloads the
# drop-in for the ABI, or says that there is none.
dropin=$libdir/abi/libcircoll-mpi.so
advice="preload $dropin instead"
[ -e "$dropin" ] || advice="there is no drop-in for the standard ABI of MPI"
for mpi in openmpi mpich; do
  said=$(LD_PRELOAD=$libdir/$mpi/libcircoll-mpi.so timeout 20 "$abi" 2>&1) || fail "the ABI's program under $mpi: $?"
  [ "$(grep -c "^circoll: .*libmpi_abi.so.*$advice" <<<"$said")" = 1 ] || fail "no sentence under $mpi: $said"
  grep -q '^preloaded: nothing$' <<<"$said" || fail "the ABI's program did not run under $mpi: $said"
done
said=$(timeout 20 "$circoll" run -- "$abi" 2>&1)
ended=$?
if [ -e "$dropin" ]; then
  [ "$said" = "preloaded: $dropin" ] || fail "circoll run on the ABI's program: $said"
else
  [ $ended != 0 ] || fail "circoll run took the ABI's program: $said"
  [ "$(wc -l <<<"$said")" = 1 ] && grep -q 'no drop-in for the standard ABI' <<<"$said" || fail "circoll run on the ABI's program: $said"
fi

shift 3
for mpi in openmpi mpich; do
  said=$(timeout 20 "$circoll" run -- "$1" 2>&1)
  [ "$said" = "preloaded: $libdir/$mpi/libcircoll-mpi.so" ] || fail "circoll run on $1: $said"
  other=mpich
  [ $mpi = mpich ] && other=openmpi
  said=$(LD_PRELOAD=$libdir/$other/libcircoll-mpi.so timeout 20 "$1" 2>&1) || fail "$1 under the wrong drop-in: $?"
  [ "$(grep -c "^circoll: .*$libdir/$mpi/libcircoll-mpi.so" <<<"$said")" = 1 ] || fail "$1 under $other: $said"
  grep -q '^preloaded: nothing$' <<<"$said" || fail "$1 did not run under $other: $said"
  shift
done
[ $failed = 0 ] && echo PASS
exit $failed
