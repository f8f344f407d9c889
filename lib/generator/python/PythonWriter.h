// SPDX-License-Identifier: Apache-2.0
// The Python files beside `<op>_triton.py`, for PyTorch and upstream's compiler. They import torch,
// triton and each other only, and run as scripts in their folder:
//   <op>_baseline.py     the definition operation by operation, same function, same checks
//   <op>_accuracy.py     kernel and baseline against the definition in float64; exit 1 on a
//   mismatch <op>_performance.py  accuracy, then both in turns on the device's clock
#pragma once

#include "lib/generator/Generator.h"

namespace nereid::generator {

std::string writePythonBaseline(const Generation &generation);
std::string writePythonAccuracy(const Generation &generation);
std::string writePythonPerformance(const Generation &generation);

} // namespace nereid::generator
