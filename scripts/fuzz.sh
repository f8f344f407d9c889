#!/bin/sh
# The long fuzzing runs, with their findings in build/fuzz and build-fuzz:
#   scripts/fuzz.sh programs [COUNT [SEED [PROCESSOR]]]
#                                     random kernels, interpreter against CPU (100,000), or against
#                                     a processor of test/language/Processors.def under qemu
#   scripts/fuzz.sh parser [SECONDS]  the parsers under libFuzzer (3600)
set -eu
cd "$(dirname "$0")/.."
./dev setup

case "${1:-programs}" in
programs)
  [ -f build/build.ninja ] || { mkdir -p build && cmake --preset release >build/configure.log; }
  processor=${4:-cpu}
  case "$processor" in
  aarch64*) ninja -C build program_fuzz runner_aarch64 ;;
  rv64*) ninja -C build program_fuzz runner_riscv64 ;;
  *) ninja -C build program_fuzz ;;
  esac
  build/bin/program_fuzz --table --count "${2:-100000}" --seed "${3:-1}" --processor "$processor" \
    --out build/fuzz
  ;;
parser)
  [ -f build-fuzz/build.ninja ] || { mkdir -p build-fuzz && cmake --preset fuzz >build-fuzz/configure.log; }
  ninja -C build-fuzz parser_fuzz
  corpus=build-fuzz/corpus
  mkdir -p "$corpus" build-fuzz/findings
  # Seeds: every kernel and library file, each as a file of kernels.
  for file in kernels/*/*.py lib/language/std/*.py examples/*/*.py; do
    [ -f "$file" ] || continue
    { printf '\003'; cat "$file"; } >"$corpus/$(printf '%s' "$file" | tr / _)"
  done
  build-fuzz/bin/parser_fuzz -max_total_time="${2:-3600}" -timeout=10 -rss_limit_mb=2048 \
    -max_len=16384 -print_final_stats=1 -dict=test/fuzz/python.dict \
    -artifact_prefix=build-fuzz/findings/ "$corpus"
  ;;
*)
  sed -n '2,6p' "$0"
  exit 2
  ;;
esac
