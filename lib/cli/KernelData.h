// SPDX-License-Identifier: Apache-2.0
// Other data for the cases of a kernel library than the numbers that they ask for: the kinds of the
// accuracy grid, where a case's reference can judge them.
#pragma once

#include "lib/cli/KernelCases.h"
#include "lib/definition/CaseData.h"

#include <vector>

namespace nereid::cli {

/// Of all tensors.
int64_t elementsOf(const KernelArguments &arguments);

/// The inputs of a case, contents before the launch included where its reference names them, that
/// other data may take the place of: made by randn, of the one
/// floating-point type that all tensors have, and small enough. Empty where the case states a
/// tolerance, which holds for its own data alone.
std::vector<std::string> replaceableInputs(const KernelCase &testCase,
                                           const KernelArguments &arguments);

struct OtherData {
  definition::Data data;
  /// Special numbers go to one input, counted around; the others keep normal ones.
  size_t input = 0;
};

/// The kinds for case number `index` of `count` that take other data: the cases of a folder share
/// all of them out, and those with magnitudes follow from the seed.
std::vector<OtherData> dataForCase(size_t index, size_t count, uint64_t seed);

/// Fills the inputs; the name of the one that alone has the data, "" = all.
std::string replaceInputs(const std::vector<std::string> &inputs, const OtherData &other,
                          uint64_t seed, const KernelArguments &arguments);

} // namespace nereid::cli
