// SPDX-License-Identifier: Apache-2.0
// Outputs in the memory of an input (definition::Operator::outputMemory), in a lowered program:
// their stores go to the input's buffer, which is read and written then, and the output's has no
// access.
//
//   out[i] = x[i] + y[i]                 x[i] = x[i] + y[i]
//
// A copy of the input to the output, which scatters begin with, is left out. Where an element of
// the input may be read behind the store to it, or at another place of the stage that stores to it
// (by another program of the kernel, that is), the input is copied to a temporary first and read
// there:
//
//   out[i, j] = x[j, i]                  before[i, j] = x[i, j];  x[i, j] = before[j, i]
//
// Stands between lower() and normalise(), where input and output still have the definition's shape.
#pragma once

#include "lib/definition/Graph.h"
#include "lib/generator/program/Program.h"

namespace nereid::generator {

void writeInPlace(Program &program, const definition::Operator &op);

} // namespace nereid::generator
