// SPDX-License-Identifier: Apache-2.0
// Kernels that are made of a program, run by the interpreter under the checker's eyes and, where
// asked, compiled for the CPU.
#pragma once

#include "lib/generator/launch/Table.h"
#include "lib/generator/program/Evaluate.h"

namespace nereid::generator {

enum class RunOn : uint8_t { Interpreter, Cpu };

struct RunOptions {
  RunOn on = RunOn::Interpreter;
  /// Blocks of 4 by 2 by 2, so that small tensors have many programs; else those of the table.
  /// Reductions that are whole keep their block.
  bool hasSmallBlocks = true;
  bool isWide = false;      ///< offsets have 64 bits in any case
  bool isLooped = false;    ///< reductions walk over blocks where there is the choice
  bool isSplit = false;     ///< reductions are computed in parts where there is the choice
  ChosenValues chosen = {}; ///< of a schedule
  LaunchSite site = {};     ///< whose blocks and forms are taken, wherever it runs
  bool isPersistent = false, isStreamed = false; ///< products share tiles in these ways
};

/// The program gets the stages of makeKernels. The elements of each output and temporary
/// afterwards. On the interpreter, what `nereid check` finds is an error, as is anything else that
/// goes wrong; its message holds the kernel's text.
Result<std::map<std::string, std::vector<double>>>
run(Program &program, const EvaluationInput &input, const RunOptions &options);

} // namespace nereid::generator
