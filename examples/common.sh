# Sourced by examples/*/run.sh [openmpi|mpich] [np] [build directory].
# Sets mpi, np and build, and defines what the scripts are written in.
examples=$(cd "$(dirname "$0")/.." && pwd)
here=$(cd "$(dirname "$0")" && pwd)
status=0

case ${1:-} in
  -h | --help)
    sed -n '2,/^[^#]/s/^# \{0,1\}//p' "$0"
    echo "usage: $0 [openmpi|mpich] [np] [build directory]"
    exit 0
    ;;
esac
mpi=${1:-openmpi}
np=${2:-4}
build=${3:-}
if [ -z "$build" ]; then
  build=$examples/../build/dev
  [ -d "$build" ] || build=$examples/../build/release
fi
case $mpi in
  openmpi | mpich) ;;
  *) echo "$0: '$mpi' is neither openmpi nor mpich" >&2; exit 2 ;;
esac
[ -e "$build/lib/circoll/$mpi/libcircoll-mpi.so" ] || {
  echo "$0: no drop-in for $mpi in $build; build it: cmake --preset dev && cmake --build --preset dev" >&2
  exit 2
}
build=$(cd "$build" && pwd)

# skip REASON: this machine lacks something.
skip() {
  echo "skipped: $*"
  exit 77
}

# built NAME: the program of that name in the build tree.
built() {
  [ -x "$build/examples/$1" ] || {
    echo "$0: $build/examples/$1 is not there; build it: cmake --build $build --target examples" >&2
    exit 2
  }
  echo "$build/examples/$1"
}

# compare OPTION... -- COMMAND...: see compare.py --help.
compare() { python3 "$examples/compare.py" --mpi "$mpi" --np "$np" --build "$build" "$@" || status=1; }

# conjugate_gradients NAME PROGRAM FORM...: the comparisons of both solvers, the blocking form and others. Residuals
# differ by rounding at first; 200 iterations later they agree in ten digits, and the solution in nine.
conjugate_gradients() {
  name=$1
  solver=$2
  served=allreduce,bcast,reduce,gatherv
  compare --program "$name" --variant "sums of integers" --served "$served" -- "$solver" 64 exact blocking
  algorithms=auto
  [ "$np" -le 3 ] || algorithms="auto ring"
  for algorithm in $algorithms; do
    compare --program "$name" --variant "sums of doubles, CIRCOLL_ALLREDUCE=$algorithm" \
      --env "CIRCOLL_ALLREDUCE=$algorithm" --served "$served" \
      --close '^residual +([0-9]|[0-4][0-9]) ' 1e-13 0 --close '^residual ' 1e-10 0 --close '^x\[' 0 1e-9 -- \
      "$solver" 64 double blocking
  done
  shift 2
  for form; do
    case $form in
      pipelined) started=iallreduce ;;
      persistent) started="persistent allreduce" ;;
    esac
    compare --program "$name" --variant "$form, sums of integers" --served "$served,$started" -- \
      "$solver" 64 exact "$form"
  done
}
