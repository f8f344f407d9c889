// SPDX-License-Identifier: Apache-2.0
// What all variants of a kernel have in common: the names and expressions of its values, its loads,
// stores and reductions. KernelWriter.cpp arranges them.
#pragma once

#include "lib/generator/KernelExpression.h"
#include "lib/generator/KernelInterface.h"
#include "lib/generator/KernelTypes.h"
#include "lib/generator/LaneAnalysis.h"

#include <map>
#include <set>
#include <string>
#include <vector>

namespace nereid::generator {

/// A value is bound to a variable when the definition names it, when it is used more than once or
/// when it is a load or a reduction; others are written in place.
class KernelBody {
protected:
  KernelBody(const FusedOperator &fused, KernelVariant variant);

  void chooseParameters();
  void chooseComputeType();

  // ---- names and values ----
  std::string freshName(const std::string &wanted);
  const FusedNode &node(int number) const { return fused.nodes[static_cast<size_t>(number)]; }
  bool is2d() const { return variant == KernelVariant::Tiles; }
  /// An operand as it enters a value of extent `as`: vectors get the missing dimension of a tile.
  Expression use(int number, Extent as);
  void bind(int number, Expression value, bool force);
  std::string variableFor(int number);
  /// After the value it is a part of: "mean_sum" for the sum that becomes 'mean'.
  std::string sumName(int number) const;
  /// Everything but loads and reductions.
  void compute(int number);
  /// An operand in the type of the operation, where integers make that a question.
  Expression operand(int user, size_t input);
  /// The type of values in the source.
  std::string typeName(const std::vector<DType> &types) const;
  std::string scalarName(int parameter) const;

  // ---- memory ----
  const Operand &operandOf(int number, bool isOutput) const;
  /// Offsets of operands that move along some groups only, as variables "<name>_row", "<name>_col".
  void generalOffsets(bool ofRows);
  kernel::Expr address(const Operand &operand);
  /// None for a scalar.
  kernel::Expr mask(Extent extent) const;
  void load(int number);
  void store(size_t output);
  std::string storedName(const Operand &operand);
  std::string addressName(const Operand &operand);

  // ---- reductions ----
  kernel::Expr identity(int number) const;
  /// The value to reduce, with masked lanes that the reduction ignores.
  kernel::Expr guarded(int reduction);
  bool needsNanCheck(int number) const;
  void finishReduction(int number, const kernel::Expr &value);
  void reduceTile(int number);

  const FusedOperator &fused;
  KernelVariant variant;
  std::vector<Lane> lanes;
  std::vector<int> uses;
  std::set<std::string> taken;
  std::map<std::string, int> suffixes; ///< the last one given to a name
  std::map<int, Expression> values;
  std::map<int, std::string> variables;
  std::map<std::string, std::string> offsetVariables;
  std::string computeType;
  KernelTypes kernelTypes;
  std::vector<kernel::Parameter> parameters;
  kernel::Body body;
};

} // namespace nereid::generator
