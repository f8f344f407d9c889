// SPDX-License-Identifier: Apache-2.0
// Why partition() cuts a reduction off the kernel that needs it, as it has decided it, and in words
// for the account of a call's kernels (launch/Account.h).
#pragma once

#include "lib/generator/program/Program.h"

namespace nereid::generator {

enum class CutKind : uint8_t {
  Line,     ///< the kernel scans or sorts lines that are in memory
  Stage,    ///< no kernel is around it: others compute elements for which it is the same
  Template, ///< a product among other reductions, or another reduction among products
  Axes,     ///< the kernel reduces over other iterators
  Inside,   ///< it varies along what the kernel reduces
  Tiles     ///< a product of factors over other tiles
};

struct CutReason {
  CutKind kind = CutKind::Stage;
  const Node *anchor = nullptr; ///< the reduction that the kernel is built around, if any
  std::set<IteratorId> stage = {};
};

/// One sentence without its end, with how often the reduction would be computed in the kernel that
/// needs it and what memory costs instead. `read`: what stands there in its place.
std::string textOf(const CutReason &why, const Node &cut, const Node &read, const Program &program);

} // namespace nereid::generator
