// SPDX-License-Identifier: Apache-2.0
// Values for a kernel's parameters from text: `x=randn(n,4096,seed=1)`, `x=x.npy`, `n=1024`,
// `out=view(x,offset=64)` for memory of another argument. An integer may be an expression over the
// integers that are numbers, over integer constexprs and over expressions of parameters in front of
// it, `stride=K`; sizes of tensors may be expressions over all of them.
#pragma once

#include "lib/language/signature/Signature.h"
#include "runtime/Kernel.h"

#include <map>
#include <string>
#include <vector>

namespace nereid::launch {

/// Run-time arguments of one launch, in parameter order, and the tensors they live in.
struct KernelArguments {
  std::vector<std::string> names; ///< run-time parameters, in order
  std::map<std::string, runtime::Tensor> tensors;
  std::map<std::string, int64_t> integers; ///< integer arguments and integer constexprs
  std::map<std::string, double> reals;
  /// Tensors that share another one's memory.
  struct View {
    std::string of;
    int64_t offset = 0; ///< in elements
  };
  std::map<std::string, View> views;
  /// What outputs that have contents before a launch hold then.
  std::map<std::string, runtime::Tensor> before;

  /// In parameter order; points into `tensors`.
  std::vector<runtime::ArgumentValue> values() const;
  /// A copy whose tensors own separate memory; views are views of the copies.
  KernelArguments clone() const;
};

/// `assignments` are "name=value" texts. E0010 malformed or unknown maker, E0011 parameter missing
/// or unknown (nearest names), E0012 file does not fit the parameter, E0506 does not fit in memory.
Result<KernelArguments> makeArguments(const language::Signature &signature,
                                      const std::vector<std::string> &assignments);

/// The integers alone, for a grid: no tensor is made, and one that is
/// not given is missed by what asks for it. E0010.
Result<KernelArguments> makeIntegers(const language::Signature &signature,
                                     const std::vector<std::string> &assignments);

/// "cdiv(n, BLOCK), 1, 1" with the values of the integer arguments; one to three sizes.
Result<runtime::Grid> evaluateGrid(const std::string &text, const KernelArguments &arguments);

} // namespace nereid::launch
