#!/bin/sh
# The performance table: operators beside their unfused baseline and the machine's copy, kernels
# beside the library that does the same, and what a process costs. Results go to bench/results/.
#   scripts/bench.sh [operator…]
set -eu
nereid=build/bin/nereid
results=bench/results
operators=${*:-broadcast_add bias_gelu softmax layer_norm}
stamp=$(date -u +%Y-%m-%d)
mkdir -p "$results" build/bench

for op in $operators; do
  echo "== $op"
  "$nereid" develop "operators/$op.toml" --dtype float32 --out "build/bench/$op"
  cp "build/bench/$op/performance.json" "$results/$stamp-$op.json"
done

for folder in kernels/*/; do
  folder=${folder%/}
  [ -f "$folder/cases.toml" ] || continue
  grep -q '"bench"' "$folder/cases.toml" || continue
  echo "== $folder"
  "$nereid" bench "$folder"
  "$nereid" --json bench "$folder" >"$results/$stamp-kernel-${folder#kernels/}.json"
done

echo "== process start to exit, vector_add on small input"
python3 scripts/process_time.py "$nereid" | tee "$results/$stamp-process.txt"
