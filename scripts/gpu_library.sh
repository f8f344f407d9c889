#!/bin/sh
# Libraries compiled ahead of time for NVIDIA GPUs, on the GPUs of this machine: as PTX alone, and with
# machine code where there is a ptxas. Ends with 77 when there is no GPU.
#   scripts/gpu_library.sh NEREID [FOLDER]
# What a machine with a GPU needs no compiler for: FOLDER keeps the programs, and a second call runs them.
set -eu
here=$(cd "$(dirname "$0")/.." && pwd)
nereid=$1
folder=${2:-$(mktemp -d)}

build() { # NAME, with NEREID_PTXAS as it is
  mkdir -p "$folder/$1"
  "$nereid" compile "$here/kernels/vector_add/vector_add.py" --name add --emit static \
    -s "*fp32:16, *fp32:16, *fp32:16, i32, 1024, num_ctas=2" --grid "cdiv(n, BLOCK)" --no-cache \
    --target nvidia:sm_80,nvidia:sm_86,nvidia:sm_89,nvidia:sm_90a -o "$folder/$1/libadd.a"
  "$nereid" compile "$here/test/aot/Inputs/device.py" --emit static -s "i32, *i32" --no-cache \
    --target nvidia:sm_80 -o "$folder/$1/libassert_not_one.a"
  ${CC:-cc} -std=c99 -O1 -I"$folder/$1" "$here/test/aot/Inputs/gpu.c" "$folder/$1/libadd.a" \
    "$folder/$1/libassert_not_one.a" -lpthread -ldl -o "$folder/$1/program"
}

[ -x "$folder/ptx/program" ] || NEREID_PTXAS=none build ptx
[ -x "$folder/native/program" ] || build native
for form in ptx native; do
  echo "== $form"
  "$folder/$form/program"
done
