// SPDX-License-Identifier: Apache-2.0
// Other data for the cases of a kernel library than the numbers that they ask for: the kinds of the
// accuracy grid, where a case's reference can judge them.
#pragma once

#include "lib/definition/cases/CaseData.h"
#include "lib/launch/KernelCases.h"

#include <map>
#include <string>
#include <vector>

namespace nereid::bench {

/// Of all tensors.
int64_t elementsOf(const launch::KernelArguments &arguments);
/// A kernel and the types of all its tensors: what is compiled anew for others.
std::string typesOf(const launch::KernelCase &testCase, const launch::KernelArguments &arguments);

/// The inputs of a case, contents before the launch included where its reference names them, that
/// other data may take the place of: made by randn, and small enough. Empty where the case states a
/// tolerance, which holds for its own data alone.
std::vector<std::string> replaceableInputs(const launch::KernelCase &testCase,
                                           const launch::KernelArguments &arguments);

/// Cases of one kernel, with inputs of the same names and types, have the same text here: they
/// share the kinds of data out.
std::string dataGroup(const launch::KernelCase &testCase, const std::vector<std::string> &inputs,
                      const launch::KernelArguments &arguments);

struct OtherData {
  definition::Data data;
  /// Special numbers go to this input alone; the others keep normal ones.
  std::string input;
  bool isForLarge = false; ///< worth the time of larger cases
};

/// Every kind, for inputs that have `fewestRows` rows at least; magnitudes and order follow from
/// the seed.
std::vector<OtherData> otherData(const std::vector<std::string> &inputs, int64_t fewestRows,
                                 uint64_t seed);

/// Of the inputs; a tensor without dimensions has one.
int64_t fewestRows(const std::vector<std::string> &inputs,
                   const launch::KernelArguments &arguments);

/// Of the inputs' last dimensions.
int64_t shortestRow(const std::vector<std::string> &inputs,
                    const launch::KernelArguments &arguments);

/// The normal numbers that replaceInputs() starts from, by input.
std::map<std::string, runtime::Tensor> normalInputs(const std::vector<std::string> &inputs,
                                                    uint64_t seed,
                                                    const launch::KernelArguments &arguments);

/// Fills the inputs; `normals` are of the same seed, or none.
void replaceInputs(const std::vector<std::string> &inputs, const OtherData &other, uint64_t seed,
                   const launch::KernelArguments &arguments,
                   const std::map<std::string, runtime::Tensor> &normals = {});

} // namespace nereid::bench
