// SPDX-License-Identifier: Apache-2.0
// Which reductions share a kernel with what needs them. All of a kernel's run over the same
// iterators and for each point of the others (F2, F3):
//
//   y[i, j] = exp(x[i, j] - max[j](x[i, j])) / sum[j](…)     stay: one row's
//   y[i, j] = x[i, j] - sum[i](x[i, j] * sum[j](x[i, j]))    the inner sum varies in the outer (F4)
//   y[i, j] = x[i, j] / sum[k](w[k])                         would be computed anew for each point
//
// Contractions (Contraction.h) share a kernel with contractions alone, and with what is computed of
// their results at the same point.
// Others become stages of their own, which leave their result in a temporary; a value that several
// stages need is left there once, and what several products compute of such a result instead of it
// (SharedFactors.h).
#pragma once

#include "lib/generator/program/Program.h"

namespace nereid::generator {

/// Extents to which a dimension is whole in a tile, where it is the innermost one and where not.
constexpr int64_t wholeAtMost = 8192, wholeAtMostOutside = 128;

/// Gives reductions over equal extents the same iterators where no value tells them apart, and cuts
/// off those that cannot stay. The program is normalised and keeps the laws; a second time changes
/// nothing. `apart`: first buffers of stages that may have another form, so that what is cut off
/// them serves no other stage. The result says in words why each temporary that it has added is
/// between two kernels.
std::map<BufferId, std::string> partition(Program &program, const std::set<BufferId> &apart = {});

} // namespace nereid::generator
