// SPDX-License-Identifier: Apache-2.0
// Conditions that a definition puts on its inputs: relations between sizes, ranks, types and
// numbers ("D % 8 == 0", "x.shape[-1] == bias.numel()", "x.dtype == y.dtype", "eps > 0"), ranges of
// a tensor's values ("var >= 0") and "x.is_contiguous()". ConstraintReader.h makes them from text;
// the loader, the case grid, the launcher and the generated wrappers enforce them.
#pragma once

#include "lib/support/Diagnostics.h"
#include "runtime/elements/DType.h"

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

namespace nereid::definition {

struct Operator;
struct Binding;

struct ConstraintTerm {
  enum class Kind : uint8_t {
    Number,   ///< `number`
    Symbol,   ///< the size called `name`
    Scalar,   ///< number parameter `parameter`
    Size,     ///< dimension `index` of tensor `parameter`, counted as in Python
    Rank,     ///< of tensor `parameter`
    Count,    ///< elements of tensor `parameter`
    Negative, ///< of operands[0]
    Binary,   ///< operands[0] `name` operands[1]: + - * // %
    Shape,    ///< of tensor `parameter`
    List,     ///< operands, as a shape
    Type,     ///< of tensor `parameter`
    TypeName, ///< `dtype`
    Values,   ///< every element of tensor `parameter`
  };
  Kind kind = Kind::Number;
  long double number = 0;
  std::string name;
  int parameter = -1;
  int64_t index = 0;
  DType dtype = DType::F32;
  std::vector<ConstraintTerm> operands;
};

struct Constraint {
  std::string text; ///< as a Python expression, spelt by this program
  /// "==", "!=", "<", "<=", ">", ">=", or "" for `left`, a tensor, being contiguous.
  std::string relation;
  ConstraintTerm left, right;

  bool isAboutValues() const { return left.kind == ConstraintTerm::Kind::Values; }
};

/// The term in Python's spelling, with the names of the operator's parameters.
std::string text(const ConstraintTerm &term, const Operator &op);

/// The relation when both sides change places.
std::string mirrored(const std::string &relation);

/// What speaks against a constraint ("D % 8 is 1, and not 0"); empty when it holds, or is about
/// more than sizes and types. Without `dtype` types are left open; `scalars` are the numbers'
/// values by parameter, empty for their defaults.
std::string violation(const Constraint &constraint, const Operator &op, const Binding &binding,
                      std::optional<DType> dtype, const std::vector<double> &scalars = {});
/// E0617 for the first constraint that does not hold.
Status checkConstraints(const Operator &op, const Binding &binding, std::optional<DType> dtype,
                        const std::vector<double> &scalars = {});

/// The values that constraints leave to a tensor.
struct ValueRange {
  double low, high; ///< infinities where nothing is said
  bool isLowOpen = false, isHighOpen = false;
  bool excludesZero = false;

  ValueRange();
  bool isEverything() const;
  bool contains(double value) const;
  /// A value of the range that depends on the given one; NaN stays.
  double fitted(double value) const;
};
ValueRange valueRange(const Operator &op, size_t parameter);
bool mustBeContiguous(const Operator &op, size_t parameter);

/// The sizes nearest to the wanted ones, tried one size after another, that meet every constraint;
/// nothing when that leads nowhere.
std::optional<Binding> fulfilled(const Operator &op, const Binding &wanted);

} // namespace nereid::definition
