// SPDX-License-Identifier: Apache-2.0
// Kernels of programs beside the reference and beside the evaluator.
#pragma once

#include "unittests/generator/lower/Rows.h"
#include "unittests/generator/template/RunProgram.h"

namespace nereid::generator {

/// The output "out" of the operator's kernels lies within the reference's own bounds.
void expectReference(const definition::Operator &op, const Sample &sample, DType dtype,
                     const RunOptions &options);

/// The kernels leave in memory what the evaluator says, NaN included, within a part of each number;
/// by default exactly. What the evaluator does not write is not compared.
void expectEvaluated(Program &program, const EvaluationInput &input, const RunOptions &options,
                     double tolerance = 0);

/// The kernels' text.
std::string textOf(Program &program);

} // namespace nereid::generator
