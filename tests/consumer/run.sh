#!/bin/sh
# Installs a build tree to a scratch prefix, moves it, and builds and runs the programs of this directory against it.
# The programs find it by find_package(circoll), and by pkg-config with no build system at all.
# usage: run.sh BUILD_DIR SCRATCH_DIR [CXX [CC]]
set -eu

build=$1
scratch=$2
cxx=${3:-c++}
cc=${4:-cc}
here=$(cd "$(dirname "$0")" && pwd)

rm -rf "$scratch"
mkdir -p "$scratch"
cmake --install "$build" --prefix "$scratch/first" >"$scratch/install.log"
mv "$scratch/first" "$scratch/prefix"  # nothing in the tree may name the place that it was installed to
prefix=$scratch/prefix
libdir=$(dirname "$(find "$prefix" -name 'libcircoll.*' | head -n 1)")

# Programs run where their MPI's launcher is installed. One process without a launcher is an MPI program, too.
launch() {
  case $1 in
    *openmpi*) "$here/../../dev/launch" crowded openmpi -np 2 "$1" ;;
    *mpich*) "$here/../../dev/launch" crowded mpich -np 2 "$1" ;;
    *) "$1" ;;
  esac
}

echo "-- find_package"
cmake -S "$here" -B "$scratch/build" -DCMAKE_PREFIX_PATH="$prefix" -DCMAKE_CXX_COMPILER="$cxx" \
  -DCMAKE_C_COMPILER="$cc" >"$scratch/configure.log"
cmake --build "$scratch/build" >"$scratch/build.log"
for program in "$scratch"/build/consumer*; do
  if [ ! -f "$program" ] || [ ! -x "$program" ]; then continue; fi
  echo "$(basename "$program"): $(launch "$program")"
done

echo "-- find_package, in a project of C only"
if [ -e "$prefix/include/circoll/circoll.h" ]; then
  cmake -S "$here/c_only" -B "$scratch/c_only" -DCMAKE_PREFIX_PATH="$prefix" -DCMAKE_C_COMPILER="$cc" \
    >"$scratch/configure_c.log"
  grep -q CMAKE_CXX_COMPILER: "$scratch/c_only/CMakeCache.txt" && { echo "a C++ compiler was asked for"; exit 1; }
  cmake --build "$scratch/c_only" >"$scratch/build_c.log"
  for program in "$scratch"/c_only/c_only*; do
    [ ! -x "$program" ] || echo "$(basename "$program"): $(launch "$program")"
  done
fi

echo "-- pkg-config"
PKG_CONFIG_PATH=$libdir/pkgconfig
export PKG_CONFIG_PATH
if [ -e "$libdir/libcircoll.so" ]; then
  LD_LIBRARY_PATH=$libdir${LD_LIBRARY_PATH:+:$LD_LIBRARY_PATH}
  export LD_LIBRARY_PATH
fi
compile() {  # compile NAME COMPILER MODULE SOURCE [FLAGS]
  name=$1 compiler=$2 module=$3 source=$4
  shift 4
  flags=$(pkg-config --cflags --libs "$module")
  # shellcheck disable=SC2086  # flags are words
  "$compiler" "$@" "$source" -o "$scratch/$name" $flags
  echo "$name: $(launch "$scratch/$name")"
}
compile pkgconfig "$cxx" circoll "$here/consumer.cpp" -std=c++20
[ ! -e "$prefix/include/circoll/circoll.h" ] || compile pkgconfig_c "$cc" circoll "$here/consumer.c"
for mpi in openmpi mpich abi; do
  [ -e "$libdir/pkgconfig/circoll-$mpi.pc" ] || continue
  compile "pkgconfig_$mpi" "$cxx" "circoll-$mpi" "$here/consumer_mpi.cpp" -std=c++20
  compile "pkgconfig_c_$mpi" "$cc" "circoll-$mpi" "$here/consumer_mpi.c"
done

echo "-- code of the pages"
root=$here/../..
mkdir "$scratch/pages"
python3 "$here/code_blocks.py" "$scratch/pages" "$root/README.md" "$root/docs/user/library.md" "$root/docs/user/reproducible.md"
pages=0
for page in "$scratch"/pages/*; do
  program=page_$(basename "$page")
  pages=$((pages + 1))
  case $page in *.c) with=$cc standard=-std=c99 ;; *) with=$cxx standard=-std=c++20 ;; esac
  if ! grep -q 'mpi\.h' "$page"; then
    compile "$program" "$with" circoll "$page" $standard
    continue
  fi
  for mpi in openmpi mpich abi; do
    [ ! -e "$libdir/pkgconfig/circoll-$mpi.pc" ] || compile "$program.$mpi" "$with" "circoll-$mpi" "$page" $standard
  done
done
[ "$pages" -ge 5 ] || { echo "only $pages programs are on the pages"; exit 1; }

if [ -x "$prefix/bin/circoll" ]; then
  echo "-- installed circoll"
  "$prefix/bin/circoll" list >/dev/null
  for file in share/man/man1/circoll-verify.1 share/bash-completion/completions/circoll share/zsh/site-functions/_circoll \
    share/fish/vendor_completions.d/circoll.fish share/doc/circoll/LICENSE share/doc/circoll/docs/user/library.md \
    share/doc/circoll/CHANGELOG.md share/doc/circoll/CITATION.cff share/doc/circoll/examples/rules/p8.json \
    share/doc/circoll/examples/cg/cg.cpp share/circoll/modulefile/circoll share/circoll/modulefile/circoll.lua; do
    [ -s "$prefix/$file" ] || { echo "$file is not installed"; exit 1; }
  done
  CIRCOLL_POLICY=file:$prefix/share/doc/circoll/examples/rules/p8.json \
    "$prefix/bin/circoll" explain allreduce -p 8 --bytes 1Mi >/dev/null
  "$prefix/bin/circoll" explain allreduce -p 64 --bytes 1Mi --machine leonardo >/dev/null
  "$prefix/bin/circoll" explore allreduce/ring -p 4 -o "$scratch/explorer.html"
  grep -q 'content="id=allreduce/ring&amp;p=4"' "$scratch/explorer.html"
  if /usr/bin/python3 -c 'import matplotlib' 2>/dev/null; then
    "$prefix/bin/circoll" cost bcast -p 4 --plot "$scratch/costs.svg"
    grep -q '<svg' "$scratch/costs.svg"
  fi
fi
echo "-- ok"
