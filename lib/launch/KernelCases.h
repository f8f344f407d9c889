// SPDX-License-Identifier: Apache-2.0
// `cases.toml` beside a kernel: the launches that run, bench and the tests use (kernels/README.md
// has the format). CaseReference.h says what a launch of one should give.
#pragma once

#include "lib/definition/Graph.h"
#include "lib/launch/Arguments.h"

#include <map>
#include <optional>
#include <set>
#include <string>
#include <vector>

namespace nereid::launch {

/// A kernel in the own language of a target's devices, to be timed beside the case's kernel on the
/// same data: 'peer = "gelu.cu:gelu"', or a table that says how it is launched.
struct ForeignPeer {
  std::string path, function;
  std::vector<std::string> arguments = {}; ///< names; empty = the kernel's of the case, in order
  std::string grid = {};                   ///< empty = the case's
  std::string threads = {};                ///< integer expression; empty = as its source says
  std::map<std::string, std::string> shapes = {}; ///< of tensors: lists of integer expressions
  std::vector<std::string> flags = {};            ///< for its compiler
};

/// A form of what the case's reference computes, generated and timed beside the case's kernel.
enum class ReferenceForm : uint8_t {
  Eager,    ///< "eager": an operation at a time, each result in memory
  Compiled, ///< "compiled": the kernel that is generated of it
  Graph,    ///< "graph": that one, recorded once and replayed
};

struct KernelCase {
  std::string name;
  std::string kernel; ///< path of the file, ":", function
  std::string signature, grid = "1";
  std::vector<std::string> arguments;           ///< "name=maker"
  std::vector<std::string> given;               ///< "name=maker": integers only the reference reads
  std::map<std::string, std::string> computed;  ///< input to expression over the other inputs
  std::map<std::string, std::string> reference; ///< output to expression
  /// Pointers that programs use among themselves: what they hold after a launch is nobody's.
  std::set<std::string> workspaces;
  std::map<std::string, std::string> peer; ///< output to a call of measure/peers/Peers.h
  std::vector<ForeignPeer> foreignPeers;
  std::vector<ReferenceForm> forms; ///< peers as well
  std::optional<definition::Tolerance> tolerance;
  std::string bytes, flops; ///< integer expressions, empty = unknown
  /// What the same operations move one after the other; an integer expression, empty = unknown.
  std::string unfusedBytes;
  std::string ladder, rung; ///< the rung that this launch is, or is a part of; empty = of none
  bool isTest = true, isBench = false;
  bool isFinite = false; ///< the reference holds for finite numbers only

  /// "name=maker" texts that come last and win, also over what the case computes.
  void addArguments(const std::vector<std::string> &assignments);
};

/// All cases of a folder. E0016 names the case and the key that is missing or malformed.
Result<std::vector<KernelCase>> loadCases(const std::string &folder);

/// The cases of the folder that a KernelReference names, or of the folder that its file is in:
/// those of that file, and of the function where one is named.
Result<std::vector<KernelCase>> casesNamedBy(const std::string &reference);

/// Those called `name`, one at least; E0016 with the names that may have been meant. `where` has
/// the cases.
Result<std::vector<KernelCase>> chooseCases(const std::string &where,
                                            const std::vector<KernelCase> &cases,
                                            const std::string &name);

std::string_view formName(ReferenceForm form);

/// What the case's launch writes.
std::set<std::string> outputNames(const KernelCase &testCase);

/// What the launch may change: outputs and workspaces.
std::set<std::string> changedNames(const KernelCase &testCase);

/// The output holds nothing before a launch: the case makes it with `empty`, or not at all.
bool startsEmpty(const KernelCase &testCase, const std::string &output);

/// Makes the outputs what they are before every launch: poisoned when the case makes them with
/// `empty`, else `arguments.before`, which is as the case makes them unless it holds something
/// already (a kernel may add to them). E0016, or an error of the maker.
Status resetOutputs(const KernelCase &testCase, KernelArguments &arguments);

/// What references call the content of `output` before the launch: "x_before".
std::string beforeName(const std::string &output);
/// A reference asks for what `output` held before the launch.
bool namesBefore(const KernelCase &testCase, const std::string &output);

} // namespace nereid::launch
