#!/bin/bash
# Every case of the kernel library on another processor under qemu.
#   scripts/cross_kernels.sh BUILD_FOLDER ENGINE      engine: a name of test/language/Processors.def
set -euo pipefail
cd "$(dirname "$0")/.."
mapfile -t options < <("$1/bin/language_conformance" "--options-of=$2")
[ ${#options[@]} -eq 4 ] || { echo "there is no processor '$2' in test/language/Processors.def"; exit 2; }
export NEREID_CACHE_DIR=$1/cross/cache
status=0
for cases in kernels/*/cases.toml; do
  "$1/bin/nereid" verify "${cases%/cases.toml}" "${options[@]}" || status=1
done
exit $status
