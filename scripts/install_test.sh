#!/bin/sh
# SPDX-License-Identifier: Apache-2.0
# Proves that an installed Nereid serves C and C++ programs on its own: what the library shows and
# needs, the header as C99, examples/cpp, and an operator's generated companions, which must also
# notice a broken kernel. Programs run with an empty PATH, so that no Python can be found.
# Usage: scripts/install_test.sh BUILD_DIR SOURCE_DIR
# SOURCE_DIR is where the build came from: the installed headers must be the current ones.
set -eu

if [ $# -ne 2 ]; then
  echo "usage: $0 BUILD_DIR SOURCE_DIR" >&2
  exit 2
fi
build=$(cd "$1" && pwd)
source=$(cd "$2" && pwd)
work=$(mktemp -d "${TMPDIR:-/tmp}/nereid_install_XXXXXX")
trap 'rm -rf "$work"' EXIT
trap 'exit 130' HUP INT TERM
export CMAKE_GENERATOR=Ninja

fail() {
  echo "FAILED: $*" >&2
  exit 1
}

# quietly LOG COMMAND…: shows the output only when the command fails.
quietly() {
  log=$work/$1.log
  shift
  "$@" >"$log" 2>&1 || {
    cat "$log" >&2
    fail "$*"
  }
}

alone() {
  env -i HOME="$work/home" NEREID_CACHE_DIR="$work/cache" PATH= "$@"
}

# expect STATUS TEXT COMMAND…: exit status, and the text somewhere in the output.
expect() {
  status=$1
  text=$2
  shift 2
  got=0
  alone "$@" >"$work/output" 2>&1 || got=$?
  tail -n 5 "$work/output"
  [ "$got" -eq "$status" ] || fail "expects exit status $status, but got $got from $*"
  grep -qF -- "$text" "$work/output" || fail "expects '$text' in the output of $*"
}

without_python() {
  if ldd "$1" | grep -i python; then
    fail "$1 links Python"
  fi
}

echo "== install, then move the tree: nothing may depend on where it was first"
quietly install cmake --install "$build" --prefix "$work/first"
mv "$work/first" "$work/prefix"
prefix=$work/prefix
library=$(find "$prefix" -name libnereid.so)
for file in "$prefix/bin/nereid" "$library"; do
  without_python "$file"
  others=$(ldd "$file" | awk '{print $1}' |
    grep -vE '^(linux-vdso|linux-gate|libm|libc|libpthread|libdl|librt|(/.*/)?ld-linux.*)\.so' || true)
  [ -z "$others" ] || fail "$file needs more than the C library: $others"
done
others=$(nm -D --defined-only "$library" | awk '{print $NF}' | grep -v '^nereid_' || true)
[ -z "$others" ] || fail "libnereid.so shows more than its interface: $others"

for header in "$source"/include/nereid/*; do
  cmp "$header" "$prefix/include/nereid/${header##*/}" || fail "${header##*/} was not installed"
done

echo "== nereid.h as C99"
cat >"$work/version.c" <<'SOURCE'
#include <nereid/nereid.h>
#include <stdio.h>

int main(void) {
  nereid_tensor *tensor = NULL;
  const int64_t shape[2] = {3, 4};
  if (nereid_tensor_create(shape, 2, NEREID_F32, &tensor) != NEREID_OK) {
    fprintf(stderr, "%s\n", nereid_last_error());
    return 1;
  }
  printf("nereid %s, %d elements\n", nereid_version(), (int)nereid_tensor_element_count(tensor));
  nereid_tensor_free(tensor);
  return 0;
}
SOURCE
quietly c99 "${CC:-cc}" -std=c99 -pedantic-errors -Wall -Wextra -Werror -I"$prefix/include" \
  "$work/version.c" -o "$work/version" "$library" -Wl,-rpath,"$(dirname "$library")"
expect 0 "12 elements" "$work/version"

# build_project SOURCE BUILD
build_project() {
  quietly configure cmake -S "$1" -B "$2" -DCMAKE_PREFIX_PATH="$prefix" \
    -DCMAKE_CXX_FLAGS="-Wall -Wextra -Werror"
  quietly make cmake --build "$2"
}

shared=$prefix/share/nereid
echo "== examples/cpp"
build_project "$shared/examples/cpp" "$work/example"
without_python "$work/example/vector_add"
expect 0 "vector_add on 98432 elements" "$work/example/vector_add" \
  "$shared/kernels/vector_add/vector_add.py"
without_python "$work/example/operators"
expect 0 "gradient: right" "$work/example/operators"

echo "== examples/aot"
build_project "$shared/examples/aot" "$work/aot"
for program in vector_add_c softmax_cpp gelu_c; do
  if ldd "$work/aot/$program" | grep -iE 'python|nereid|llvm'; then
    fail "$program needs more than its kernel's library"
  fi
done
expect 0 "vector_add on 100003 elements: right" "$work/aot/vector_add_c"
expect 0 "64 x 4000: specialization 1" "$work/aot/softmax_cpp"
expect 0 "gelu on 65536 elements" "$work/aot/gelu_c"

echo "== companions of operators/softmax.toml"
grep -v '"8192x8192"' "$shared/operators/softmax.toml" >"$work/softmax.toml"
expect 0 "" "$prefix/bin/nereid" generate "$work/softmax.toml" --out "$work/softmax"
programs=$work/companions/softmax
build_project "$work/softmax" "$work/companions"
for program in baseline accuracy performance; do
  without_python "${programs}_$program"
done
expect 0 "softmax: 24 elements" "${programs}_baseline"
expect 0 "All accuracy tests passed" "${programs}_accuracy"
expect 0 "odd 1823x781" "${programs}_performance"

echo "== companions with a broken kernel"
kernel=$work/softmax/softmax_triton.py
sed 's/tl\.exp(/0.5 + tl.exp(/' "$kernel" >"$work/broken.py"
if cmp -s "$work/broken.py" "$kernel"; then
  fail "found nothing to break in the kernel"
fi
cp "$work/broken.py" "$kernel"
expect 1 "FAILED" "${programs}_accuracy"
expect 1 "not timed" "${programs}_performance"

echo "== passed"
