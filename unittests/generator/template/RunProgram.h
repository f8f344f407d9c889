// SPDX-License-Identifier: Apache-2.0
// Kernels that are made of a program, run by the interpreter under the checker's eyes and, where
// asked, compiled for the CPU.
#pragma once

#include "lib/generator/launch/Table.h"
#include "lib/generator/program/Evaluate.h"

namespace nereid::generator {

enum class RunOn : uint8_t { Interpreter, Cpu };

/// The elements of each output and temporary afterwards. On the interpreter, what `nereid check`
/// finds is an error, as is anything else that goes wrong; its message holds the kernel's text.
Result<std::map<std::string, std::vector<double>>> run(const Program &program,
                                                       const EvaluationInput &input, RunOn on);

} // namespace nereid::generator
