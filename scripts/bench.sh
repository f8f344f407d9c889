#!/bin/sh
# SPDX-License-Identifier: Apache-2.0
# Everything that is measured, or the parts named: launch, gemm, process, kernels/NAME,
# operators/NAME, or NAME for both. Results go to bench/results/, the table of all newest
# ones to docs/performance.md and to standard output.
#   scripts/bench.sh [part…]            SECONDS_PER_CASE (default 3) bounds each case
set -eu
nereid=build/bin/nereid
results=bench/results
stamp=$(date -u +%Y-%m-%d)
seconds=${SECONDS_PER_CASE:-3}
mkdir -p "$results" build/bench

# keep NAME COMMAND…: what the command writes becomes a result, unless it fails.
keep() {
  name=$1
  shift
  echo "== $name"
  environment=$("$nereid" doctor --json)
  "$@" >"build/bench/$name"
  case "$name" in
  launch.json | gemm-*.json) scripts/add_environment.py "build/bench/$name" "$environment" ;;
  esac
  mv "build/bench/$name" "$results/$stamp-$name"
}

run_kernel() {
  if grep -q '"bench"' "kernels/$1/cases.toml"; then
    keep "kernel-$1.json" "$nereid" --json bench "kernels/$1" --seconds-per-case "$seconds"
  fi
}

run_operator() {
  echo "== operators/$1"
  "$nereid" develop "operators/$1.toml" --dtype float32 --out "build/bench/$1"
  cp "build/bench/$1/performance.json" "$results/$stamp-$1.json"
}

run_part() {
  case "$1" in
  launch) keep launch.json build/bin/launch_cost --json ;;
  gemm)
    for threads in 1 2; do
      keep "gemm-$threads.json" build/bin/gemm_rates kernels/matmul --json --threads $threads
    done
    ;;
  kernels/*) run_kernel "${1#kernels/}" ;;
  operators/*) run_operator "${1#operators/}" ;;
  process) keep process.txt python3 scripts/process_time.py "$nereid" ;;
  *)
    if [ -f "kernels/$1/cases.toml" ] || [ -f "operators/$1.toml" ]; then
      [ ! -f "kernels/$1/cases.toml" ] || run_kernel "$1"
      [ ! -f "operators/$1.toml" ] || run_operator "$1"
    else
      echo "bench expects launch, gemm, process, kernels/NAME, operators/NAME or NAME, but got $1" >&2
      exit 2
    fi
    ;;
  esac
}

if [ $# -eq 0 ]; then
  run_part launch
  run_part gemm
  for cases in kernels/*/cases.toml; do
    folder=${cases%/cases.toml}
    run_kernel "${folder#kernels/}"
  done
  for op in broadcast_add bias_gelu softmax layer_norm; do
    run_operator "$op"
  done
  run_part process
else
  for part in "$@"; do
    run_part "$part"
  done
fi
scripts/performance_table.py
scripts/performance_table.py --print
