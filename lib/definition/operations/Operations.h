// SPDX-License-Identifier: Apache-2.0
// The table of operations.def as data, its signatures taken apart. Read by the body reader, cost,
// tolerance, eager execution and the generator.
#pragma once

#include "lib/definition/Graph.h"

#include <string_view>

namespace nereid::definition {

/// Contraction: sums of products over a dimension both operands have (matmul). Convolution: sums of
/// products over a window (conv2d, see Convolution.h). View: the same elements under another index.
/// Scan: for each element of a line something of those up to it; Sort: elements of a sorted line,
/// or where they were (Along.h).
/// Indexing: elements at indices from tensors (Indexing.h). Creation: made of sizes and numbers
/// alone (Creation.h).
enum class OperationKind {
  Pointwise,
  Reduction,
  Contraction,
  Convolution,
  View,
  Scan,
  Sort,
  Indexing,
  Composite,
  Creation
};
/// Same: of the operands together; Bool; Position: int64; Input: of the first operand; Float:
/// integers become float32; FloatOnly, IntegerOnly: not defined for the others; Created: what the
/// node says; Cast: what the name says, "to_int8", or of "to_own" the operator's.
enum class ResultType { Same, Bool, Position, Input, Float, FloatOnly, IntegerOnly, Created, Cast };
enum class ArgumentType {
  Operand,
  Bool,
  String,
  Integer,
  Dims,
  TrailingShape,
  Pair,
  Padding,
  Order,
  Reduction,
  Dimension
};

struct Argument {
  std::string name;
  ArgumentType type;
  bool hasDefault = false;
  std::string defaultText; ///< "-inf", "0.01", "False", "none", "all"
};

struct Operation {
  std::string name;
  OperationKind kind;
  double flops = 0;    ///< see operations.def
  double rounding = 0; ///< in half epsilons
  ResultType result;
  std::vector<Argument> arguments;
  std::string module; ///< where PyTorch has it: "torch", "F", "torch.special"
  /// Number of operands, those with a default included.
  int operandCount() const;
};

/// By name or alias; null when unknown (leaves are no operations).
const Operation *findOperation(std::string_view name);
/// Names and aliases, for messages and lists.
const std::vector<std::string> &operationNames();

/// A function that the reader of bodies writes out in operations where it is called.
struct Function {
  std::string name, module;
  std::vector<Argument> arguments;
  struct Form {
    std::string when; ///< "argument=number", or "" for all others
    std::string text;
  };
  std::vector<Form> forms; ///< none: code of the reader writes it out (reader/windows)
  std::string example;     ///< arguments of a call of such a function
};
/// Null when unknown.
const Function *findFunction(std::string_view name);
const std::vector<std::string> &functionNames();
/// A function that returns values and where they are: the operation of each.
struct OperationPair {
  std::string name, values, indices;
};
/// By the function's name; null when it returns one tensor.
const OperationPair *findPair(std::string_view name);
/// By the name of the operation that has the indices.
const OperationPair *findPairOfIndices(std::string_view operation);
/// Whether PyTorch has `name_`, which writes into its first operand; `name` is without its last
/// "_".
bool hasInPlaceForm(std::string_view name);
/// "add_", …: all of them.
std::vector<std::string> inPlaceNames();
/// "norm(input, p=2, dim, keepdim=False)".
std::string signatureText(const std::string &name, const std::vector<Argument> &arguments);
/// Where PyTorch has the operation or function: "torch" when nothing else is known.
std::string moduleOf(std::string_view name);

bool isLeaf(const Node &node);
/// x.to(…): another type, and nothing computed.
bool isCast(const Node &node);
/// A leaf that is a number and no tensor: a constant, a parameter, or made of sizes.
bool isNumber(const Node &node);
/// Attribute "dim" of a reduction; empty when all dimensions are reduced.
std::vector<int64_t> dimsOf(const Node &node);
bool keepsDim(const Node &node);
int64_t integerAttribute(const Node &node, const std::string &name, int64_t otherwise);
std::string stringAttribute(const Node &node, const std::string &name, std::string otherwise);
/// Of a row of operations.def: "attribute=value", which the node has. What has no "=" is no matter
/// of attributes, and met.
bool isMet(const std::string &when, const Node &node);
/// Value of a "constant" node.
double constantValue(const Node &node);
/// "add", or "softmax(dim=-1)": operation with its attributes, for tables and comments.
std::string describe(const Node &node);

} // namespace nereid::definition
