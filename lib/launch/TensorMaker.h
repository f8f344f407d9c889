// SPDX-License-Identifier: Apache-2.0
// Tensors from text: `randn(8192,4096,seed=1)` and its like, or the path of a .npy file. Sizes may
// be integer expressions over the launch's integers: `randn(M,2*K)`.
#pragma once

#include "lib/language/IntegerExpression.h"
#include "lib/language/syntax/Ast.h"
#include "lib/support/Diagnostics.h"
#include "runtime/tensor/Tensor.h"

#include <map>
#include <optional>
#include <string>
#include <vector>

namespace nereid::launch {

/// The value of a number, `inf`, `nan`, a boolean or a negated number; nothing of any other
/// expression.
std::optional<double> literalNumber(const language::Expr &expr);

/// `maker(sizes…, name=value…)` taken apart and evaluated.
struct MakerCall {
  std::string name;
  std::vector<double> positional;
  std::map<std::string, double> keywords;

  double keyword(const std::string &key, double otherwise) const {
    auto found = keywords.find(key);
    return found == keywords.end() ? otherwise : found->second;
  }
};

/// E0010: "argument 'x=…' `why`", with the makers that there are.
Diagnostic malformedArgument(const std::string &assignment, const std::string &why);

/// `assignment`, the text that messages show, has the value `expr`, whose arguments are numbers or
/// integer expressions over `integers`. E0010.
Result<MakerCall> readMaker(const std::string &assignment, const language::Expr &expr,
                            const language::NamedIntegers &integers = {});

/// One tensor from "name=maker" without a file. E0010 malformed or unknown maker, E0506 it does not
/// fit in memory.
Result<runtime::Tensor> makeTensor(const std::string &assignment, DType dtype,
                                   const language::NamedIntegers &integers = {});

/// Of a .npy file; E0012 when it has no tensor of this type.
Result<runtime::Tensor> loadTensor(const std::string &assignment, const std::string &path,
                                   DType dtype);

} // namespace nereid::launch
