#!/bin/sh
# SPDX-License-Identifier: Apache-2.0
# Speed on the GPU of this machine, beside its peers. bench/gpu/README.md says what is measured and how.
#   scripts/gpu_bench.sh [arguments of bench/gpu/duel.py]     NEREID_PYTHON: one that has torch and triton
# Ends with 77 when there is no GPU, or no Python with both.
set -eu
cd "$(dirname "$0")/.."
python=${NEREID_PYTHON:-python3}
if ! "$python" -c "import torch, triton; assert torch.cuda.is_available()" 2>/dev/null; then
  echo "gpu-bench expects a GPU and a '$python' with torch and triton (NEREID_PYTHON names another)" >&2
  exit 77
fi
# The whole benchmark is a result; a part of it is only shown.
if [ $# -eq 0 ]; then
  set -- --json "bench/results/$(date -u +%Y-%m-%d)-gpu-duel.json"
fi
exec "$python" bench/gpu/duel.py "$@"
