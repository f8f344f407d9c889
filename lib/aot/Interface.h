// SPDX-License-Identifier: Apache-2.0
// What several specializations of one kernel have in common, seen from C: the parameters of one
// launcher, and for each specialization the conditions under which it may run. A parameter that is
// the same constant everywhere is no parameter of the launcher; one that is a constant in some
// specializations, or another constant in each, is, and must have that value for them to be taken.
#pragma once

#include "lib/language/IntegerExpression.h"
#include "lib/language/signature/Signature.h"
#include "runtime/aot/Table.h"

#include <string>
#include <vector>

namespace nereid::aot {

struct CParameter {
  std::string name;       ///< usable in C; the kernel's where that is
  std::string kernelName; ///< "a" or, of a descriptor's sizes and strides, "a.size0"
  ParameterKind kind = ParameterKind::Integer;
  DType dtype = DType::I64; ///< Pointer: of the elements
  bool isWritten = true;    ///< else the header says const
  std::string remark = {};  ///< what the header says about it; may be empty
  std::string type() const; ///< "float *", "int32_t ": a name may follow
};

struct SpecializationPlan {
  std::string signature;            ///< canonical
  std::string kernelSignature = {}; ///< the same without ranges: what the code depends on
  std::vector<Condition> conditions = {};
  std::vector<int64_t> slots = {}; ///< of the kernel's entry: which C parameter each one is
  language::NamedIntegers constants = {};
};

struct Interface {
  std::vector<CParameter> parameters;
  std::vector<SpecializationPlan> specializations; ///< the more specific ones first
};

/// E0020 when they do not fit together, or one would never run; E0023 when a descriptor's parts
/// or the parameters are more than a launcher takes.
/// E0026 when ranges overlap so that it is open which specialization is meant.
/// `gridArguments` are further integers, known to the grid expression alone; they come last.
/// `chosen` are constants that follow from the other conditions: no parameters of the launcher.
Result<Interface> makeInterface(const std::vector<language::Signature> &signatures,
                                const std::vector<std::string> &gridArguments = {},
                                const std::vector<std::string> &chosen = {});

/// "x % 16 == 0", "BLOCK == 64": for the header and for messages.
std::string conditionText(const Interface &interface, const Condition &condition);

/// True when `strict` holding means that `loose` holds as well.
bool implies(const std::vector<Condition> &strict, const std::vector<Condition> &loose);

/// A C identifier that is no keyword of C or C++.
bool isCName(std::string_view name);

} // namespace nereid::aot
