// SPDX-License-Identifier: Apache-2.0
// Operands whose rows have gaps between them, such as columns cut out of a wider tensor. A program
// is lowered, normalised and proved for tensors without gaps; where every access then steps along
// rows and within them apart, a row's length as a step becomes a symbol of its own:
//
//   x = input(fp32, [N, D], strides=[D, 1])           x[i, j] at  D*i + j
//   x = input(fp32, [N, D], strides=[x_stride, 1])    x[i, j] at  x_stride*i + j
//
// Rows are the fewest last dimensions for which that holds. Where iterators run over rows and
// columns as one, as in a map that broadcasts nothing, there are none: callers copy.
#pragma once

#include "lib/generator/program/Program.h"

namespace nereid::generator {

/// The program is normalised and keeps the laws. Factors of matrix products and rows whose length
/// is a number stay as they are: known steps are worth more there.
void freeRowStrides(Program &program);

} // namespace nereid::generator
