// SPDX-License-Identifier: Apache-2.0
// One operator's graph while it is lowered, see Lower.h: what its nodes are as lazy tensors, and
// the program that they are written to. Private to lower/: leaves, outputs and which operation is
// lowered how in Lower.cpp, the others by what they make.
#pragma once

#include "lib/definition/operations/Convolution.h"
#include "lib/definition/operations/Lowering.h"
#include "lib/definition/operations/Operations.h"
#include "lib/definition/operations/Promotion.h"
#include "lib/generator/lower/KeptTensors.h"
#include "lib/generator/lower/Lazy.h"
#include "lib/generator/lower/Lines.h"
#include "lib/language/syntax/Ast.h"

namespace nereid::generator {

struct Lowered {
  Lazy tensor;         ///< of a number: none
  double real = 0;     ///< of a number in the text
  int64_t integer = 0; ///< the same, when it has no fraction
  definition::OperandKind kind = definition::OperandKind::Tensor;
  DType dtype = DType::F32;         ///< by the definition's rules; the tensor has the computed one
  bool isNonNegative = false;       ///< promised of an index
  bool isRounded = false;           ///< 16 bits may not hold what they hold it for: it was computed
  std::shared_ptr<LineResult> line; ///< a stage that can store the tensor itself
  bool isNumber() const { return !tensor.at; }
};

class Lowerer {
public:
  /// Thrown for what has no lowering; `lower` makes an error of it.
  struct Unsupported {
    std::string op;
  };

  /// `isTold`: values are called by their operations, see ToldProgram.
  Lowerer(const definition::Operator &written, DType dtype, bool isTold = false)
      : op(definition::decomposed(written)), dtype(dtype), isTold(isTold) {}

  Program run();
  /// Why the temporaries that it has made are between two kernels, in words.
  const std::map<BufferId, std::string> &reasonsOfTemporaries() const { return reasons; }

private:
  using GraphNode = definition::Node;

  /// The type in which values of a type are computed.
  static DType computed(DType type) {
    return isFloat(type) && type != DType::F64 ? DType::F32 : type;
  }
  Polynomial size(const definition::Dim &dim) const {
    return dim.symbol.empty() ? Polynomial(dim.constant) : sizes.at(dim.symbol);
  }

  // ---- leaves, outputs, operations: Lower.cpp ----

  void takeRules();
  Lowered parameter(const definition::Parameter &parameter);
  Lowered called(size_t number, Lowered value);
  void claim(const Node *value, size_t number);
  Lowered kept(size_t number, Lowered value);
  void store();
  Lowered apply(const GraphNode &node, std::vector<Lowered> in);
  Lowered applied(const GraphNode &node, std::vector<Lowered> in);
  Lowered inlined(const definition::Operator &lowering, std::vector<Lowered> in);
  LineTensor along(const GraphNode &node, const Lazy &x);
  Lazy viewed(const GraphNode &node, const Lazy &x);
  Lazy movedTensor(const GraphNode &node, const std::vector<Lowered> &in);
  Lazy pointwise(const std::string &name, const std::vector<Lowered> &in, DType type);

  // ---- numbers, sizes and types: LowerNumbers.cpp ----

  Lowered created(const GraphNode &node, const std::vector<Lowered> &in);
  const Node *numberOf(const Lowered &number, DType storage);
  Lowered sizeNumber(const GraphNode &node);
  Lazy wholeTensor(const Polynomial &value);
  std::optional<Polynomial> polynomialOf(const language::Expr &expr) const;
  static std::optional<Polynomial> powerOf(const Polynomial &base, const Polynomial &exponent);
  Lazy numberTensor(const language::Expr &expr, DType type);
  Lazy as(const Lowered &value, DType type);
  static int64_t wholeOf(const Lowered &number, DType type);
  Lazy asCondition(const Lowered &value);
  Lowered converted(const Lowered &from, DType type);
  const Node *zeroOf(DType type);

  // ---- over dimensions: LowerReductions.cpp ----

  std::vector<size_t> dimsOf(const GraphNode &node, const Shape &shape) const;
  Lazy reduction(const GraphNode &node, const Lowered &value, DType type);
  bool areWindows(const GraphNode &node) const;
  bool areShared(const GraphNode &node) const;
  bool areResampled(const GraphNode &node) const;
  Lazy count(const Lazy &x, const std::vector<size_t> &dims, int64_t correction, DType type);
  Lazy product(Lazy a, Lazy b);
  bool isSpread(size_t number) const;
  Lazy convolved(const GraphNode &node, const std::vector<Lowered> &in, DType type);
  static std::pair<Polynomial, Polynomial>
  paddingOf(const definition::ConvolutionAttributes &attributes, size_t side,
            const Polynomial &kernel);
  Lazy windowSums(const Lazy &x, const Lazy &w, int64_t groups);

  // ---- indices from tensors: LowerIndexed.cpp ----

  Lazy indexed(const GraphNode &node, const std::vector<Lowered> &in, DType storage);
  bool isReadByOthers() const;
  BufferId resultBuffer(const Shape &shape, DType type, DType storage, bool isPart);
  std::optional<BufferId> reshapedResult(int output) const;
  /// `why` it is between two kernels, for the account.
  BufferId temporary(const char *hint, const Shape &shape, DType type, std::string why);
  Lazy stored(BufferId buffer);

  const definition::Operator op;
  const DType dtype;
  const bool isTold;
  Program program;
  std::map<BufferId, std::string> reasons;
  Tensors make{program};
  Lines lines{program, make};
  std::map<std::string, Polynomial> sizes;
  size_t current = 0; ///< number of the node that is lowered
  int temporaries = 0;
  std::vector<Lowered> values;
  KeptTensors keptTensors{op};
  std::map<size_t, BufferId> results; ///< temporaries that hold nodes as outputs would
};

} // namespace nereid::generator
