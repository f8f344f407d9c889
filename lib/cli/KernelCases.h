// SPDX-License-Identifier: Apache-2.0
// `cases.toml` beside a kernel: the launches that run, bench and the tests use (kernels/README.md
// has the format), with a reference in PyTorch's names evaluated in float64.
#pragma once

#include "lib/cli/Arguments.h"
#include "lib/definition/Graph.h"
#include "lib/measure/Compare.h"

#include <map>
#include <optional>
#include <set>
#include <string>
#include <vector>

namespace nereid::cli {

struct KernelCase {
  std::string name;
  std::string kernel; ///< path of the file, ":", function
  std::string signature, grid;
  std::vector<std::string> arguments;           ///< "name=maker"
  std::vector<std::string> given;               ///< "name=maker": integers only the reference reads
  std::map<std::string, std::string> computed;  ///< input to expression over the other inputs
  std::map<std::string, std::string> reference; ///< output to expression
  std::map<std::string, std::string> peer;      ///< output to a call of measure/Peers.h
  std::optional<definition::Tolerance> tolerance;
  std::string bytes, flops; ///< integer expressions, empty = unknown
  /// What the same operations move one after the other; an integer expression, empty = unknown.
  std::string unfusedBytes;
  bool isTest = true, isBench = false;
  bool isFinite = false; ///< the reference holds for finite numbers only
};

/// All cases of a folder. E0016 names the case and the key that is missing or malformed.
Result<std::vector<KernelCase>> loadCases(const std::string &folder);

/// What the case's launch writes.
std::set<std::string> outputNames(const KernelCase &testCase);

/// Gives the case's computed inputs their content, evaluated in float64 from the other inputs.
Status computeInputs(const KernelCase &testCase, const KernelArguments &arguments);

/// The output holds nothing before a launch: the case makes it with `empty`, or not at all.
bool startsEmpty(const KernelCase &testCase, const std::string &output);

/// Makes the outputs what they are before every launch: poisoned when the case makes them with
/// `empty`, else `arguments.before`, which is as the case makes them unless it holds something
/// already (a kernel may add to them). E0016, or an error of the maker.
Status resetOutputs(const KernelCase &testCase, KernelArguments &arguments);

/// A reference asks for what `output` held before the launch, as "x_before" for 'x'.
bool namesBefore(const KernelCase &testCase, const std::string &output);

/// The reference of one case as an operator over the inputs' present shapes.
Result<definition::Operator> referenceOperator(const KernelCase &testCase,
                                               const KernelArguments &arguments);

/// The floating-point type in which every element of the outputs has a bound of its own: theirs, if
/// it holds the numbers of all tensors. Nothing where one tolerance stands for all.
std::optional<DType> boundType(const KernelCase &testCase, const KernelArguments &arguments);

/// What an output should hold.
struct ExpectedOutput {
  std::string name;
  runtime::Tensor values, bounds; ///< float64; bounds invalid where one tolerance holds for all
};
/// For the inputs as they are, in the order of the reference's outputs.
Result<std::vector<ExpectedOutput>> expectedOutputs(const KernelCase &testCase,
                                                    const KernelArguments &arguments);

/// Compares every output with its reference; the inputs must be as they were before the launch.
Result<measure::Comparison> compareOutputs(const KernelCase &testCase,
                                           const KernelArguments &arguments);

} // namespace nereid::cli
