// SPDX-License-Identifier: Apache-2.0
// Stages whose values are chosen by sizes alone:
//
//   out[i] = where(N < 8192, a[i], b[i])
//
// A launch knows its sizes, so that each side has a kernel and one of them is launched. A kernel of
// both would compute both, or have a branch that loads and their masks depend on.
#pragma once

#include "lib/generator/program/Program.h"

namespace nereid::generator {

struct SizeForm {
  std::vector<Store> stores;
  std::string suffix;    ///< of its kernels' names
  std::string condition; ///< expression of the launches that take it; "": all
};

/// The stores themselves, or both sides of each condition on sizes where they differ by much.
std::vector<SizeForm> sizeFormsOf(Program &program, const std::vector<Store> &stores);

} // namespace nereid::generator
