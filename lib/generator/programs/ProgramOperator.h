// SPDX-License-Identifier: Apache-2.0
// An operator whose kernels are made of index-space programs (lower/, normalise/, launch/). A
// program computes in one type, so each type of the operator has its own launch table; types whose
// kernels read alike share their text, the others have kernels named after the type:
//
//   float16, bfloat16, float32   out_kernel           loads are converted to float32, if they are
//   not int32                        out_int32_kernel
//
// One that reads like another type's, its name apart, is that one.
#pragma once

#include "lib/definition/Graph.h"
#include "lib/generator/launch/Table.h"

#include <map>
#include <string>
#include <vector>

namespace nereid::generator {

struct ProgramOperator {
  std::vector<std::string> kernels; ///< text of each
  bool usesLibdevice = false;
  std::map<DType, LaunchTable> tables; ///< one for each type of the operator
};

/// E0607 with the operation that has no lowering, or no template that makes its stage.
Result<ProgramOperator> makeProgramOperator(const definition::Operator &op);
/// The error that this would give.
Status checkProgramOperator(const definition::Operator &op);

/// Types whose tables launch the same kernels with the same arguments, in the operator's order:
/// what a wrapper does is the same code for them.
std::vector<std::vector<DType>> launchGroups(const ProgramOperator &program,
                                             const definition::Operator &op);

/// Whether `text` is `general` without some of its conversions to float32 and to a tensor's type:
/// where all of that is float32 already, both compute the same.
bool isServedBy(const std::string &text, const std::string &general);

} // namespace nereid::generator
