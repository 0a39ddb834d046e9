#!/bin/sh
# Conjugate gradients with exact dot products, in C++ by Circoll's library, on 1, 2, 3, 5, 8 and 16 ranks up to np.
# All residuals, as hexadecimal numbers, must be the same on every number of ranks.
. "$(dirname "$0")/../common.sh"

program=$(built "exact_cg_$mpi") || exit
launch=$examples/../dev/launch
out=$(mktemp -d) || exit
trap 'rm -r "$out"' EXIT
shim=
[ "$mpi" = openmpi ] || shim=$build/tests/mpi/libcircoll_yield.so
for ranks in 1 2 3 5 8 16; do
  [ "$ranks" -le "$np" ] || continue
  "$launch" crowded "$mpi" -np "$ranks" env LD_PRELOAD="$shim" "$program" >"$out/$ranks" || status=1
  if cmp "$out/1" "$out/$ranks"; then
    echo "$ranks ranks: $(grep -c residual "$out/$ranks") residuals, $(tail -n 1 "$out/$ranks")"
  else
    echo "$ranks ranks differ from one"
    status=1
  fi
done
grep -q residual "$out/1" || status=1
exit $status
