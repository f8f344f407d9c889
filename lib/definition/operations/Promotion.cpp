// SPDX-License-Identifier: Apache-2.0
#include "lib/definition/operations/Promotion.h"

#include "lib/definition/operations/Infer.h"
#include "lib/definition/operations/indices/Creation.h"
#include "lib/definition/operations/indices/Indexing.h"

#include <fmt/format.h>

#include <algorithm>
#include <set>

namespace nereid::definition {
namespace {

/// Powers of integers become products: more of them than this would not be one kernel's work.
constexpr int64_t highestPower = 64;

int rankOf(DType type) {
  switch (type) {
  case DType::Bool:
    return 0;
  case DType::U8:
    return 1;
  case DType::I8:
    return 2;
  case DType::I16:
  case DType::U16:
    return 3;
  case DType::I32:
  case DType::U32:
    return 4;
  case DType::I64:
  case DType::U64:
    return 5;
  case DType::F8E4M3FN:
  case DType::F8E5M2:
  case DType::F8E4M3FNUZ:
  case DType::F8E5M2FNUZ:
  case DType::F8E4B15:
  case DType::F16:
  case DType::BF16:
    return 6;
  case DType::F32:
    return 7;
  case DType::F64:
    return 8;
  }
  return 8;
}

bool needsFloat(const Operation &operation) {
  return operation.result == ResultType::Float || operation.result == ResultType::FloatOnly;
}

Diagnostic refuse(const Node &node, const std::string &what, DType type) {
  return makeError("E0608", fmt::format("'{}' {}, but got {}", node.op, what, torchName(type)));
}

/// Significant binary digits of a type's numbers, and the places of the last and of the first one.
struct Digits {
  int count, lowest, highest;
  bool isSigned;
};

Digits digitsOf(DType type) {
  switch (type) {
  case DType::F8E4M3FN:
    return {4, -9, 8, true};
  case DType::F8E5M2:
    return {3, -16, 15, true};
  case DType::F16:
    return {11, -24, 15, true};
  case DType::BF16:
    return {8, -133, 127, true};
  case DType::F32:
    return {24, -149, 127, true};
  case DType::F64:
    return {53, -1074, 1023, true};
  case DType::Bool:
    return {1, 0, 0, false};
  default: { // the lowest number of a signed type has one digit more, and zeros behind it
    const auto bits = static_cast<int>(8 * sizeInBytes(type)) - (isSignedInteger(type) ? 1 : 0);
    return {bits, 0, isSignedInteger(type) ? bits : bits - 1, isSignedInteger(type)};
  }
  }
}

Status checkPower(const Node &node, const std::vector<Node> &nodes, DType type) {
  const Node &exponent = nodes[static_cast<size_t>(node.inputs[1])];
  auto power = integerAttribute(exponent, "integer", 0);
  if (exponent.op == "constant" && power >= 1 && power <= highestPower) {
    return Done{};
  }
  return refuse(node,
                fmt::format("of integers expects a literal exponent from 1 to {}", highestPower),
                type)
      .withHelp("multiply, or write the exponent with a fraction ('2.0'), which computes floats");
}

Status checkNumbers(const Node &node, const std::vector<Node> &nodes, DType type) {
  for (int input : node.inputs) {
    const Node &number = nodes[static_cast<size_t>(input)];
    bool isWhole = number.op == "constant" && operandKind(number) == OperandKind::Whole;
    int64_t value = isWhole ? integerAttribute(number, "integer", 0) : 0;
    if (isWhole && !fitsInteger(value, type)) {
      return makeError("E0608", fmt::format("the number {} does not fit into {}, the type in which "
                                            "'{}' computes",
                                            value, torchName(type), node.op))
          .withHelp(fmt::format("{} holds {} to {}", torchName(type), lowestInteger(type),
                                highestInteger(type)));
    }
  }
  return Done{};
}

/// Whose operands PyTorch does not promote.
bool isOfOneType(const Operation &operation) {
  static const std::set<std::string_view> alike = {"lerp", "heaviside", "prelu", "layer_norm",
                                                   "binary_cross_entropy"};
  return operation.kind == OperationKind::Contraction ||
         operation.kind == OperationKind::Convolution || alike.contains(operation.name);
}

Status checkMixture(const Node &node, const Operation &operation,
                    std::span<const TypedOperand> operands) {
  const TypedOperand *first = nullptr, *promoted = nullptr;
  for (size_t i = 0; i < operands.size(); ++i) {
    const TypedOperand &operand = operands[i];
    if (operand.kind != OperandKind::Tensor) {
      continue;
    }
    first = first ? first : &operand;
    const bool isPromoted = promotesOperands(operation) && !isCondition(operation, i);
    promoted = promoted || !isPromoted ? promoted : &operand;
    if (isPromoted && !havePromotion(promoted->dtype, operand.dtype)) {
      return makeError("E0605",
                       fmt::format("'{}' expects operands of one type, as PyTorch promotes no "
                                   "uint16, uint32 and uint64, but got {} and {}",
                                   node.op, torchName(promoted->dtype), torchName(operand.dtype)))
          .withHelp("convert one of them, as in 'b.to(torch.int64)'");
    }
    const bool isOfOneKind = operation.name == "binary_cross_entropy_with_logits";
    if ((isOfOneType(operation) && operand.dtype != first->dtype) ||
        (isOfOneKind && isFloat(operand.dtype) != isFloat(first->dtype))) {
      return makeError("E0605",
                       fmt::format("'{}' expects operands of one type, but got {} and {}", node.op,
                                   torchName(first->dtype), torchName(operand.dtype)))
          .withHelp(fmt::format("convert one of them, as in 'b.to(torch.{})'",
                                torchName(promote(first->dtype, operand.dtype))));
    }
    if (operation.name == "sub" && operand.dtype == DType::Bool) {
      return makeError("E0608", "PyTorch subtracts no bool tensors")
          .withHelp("combine masks with & | ^ ~, or convert: 'mask.to(torch.float32)'");
    }
  }
  return Done{};
}

} // namespace

bool isCondition(const Operation &operation, size_t operand) {
  return (operation.name == "where" && operand == 0) ||
         (operation.result == ResultType::Input && operand > 0);
}

bool promotesOperands(const Operation &operation) {
  return operation.kind == OperationKind::Pointwise && operation.result != ResultType::Cast &&
         !isOfOneType(operation);
}

bool havePromotion(DType a, DType b) {
  auto isBare = [](DType type) { return isUnsignedInteger(type) && type != DType::U8; };
  return a == b || isFloat(a) || isFloat(b) || (!isBare(a) && !isBare(b));
}

DType promoteRanked(DType ranked, DType unranked) {
  const bool isLower = isFloat(ranked) || (ranked != DType::Bool && !isFloat(unranked));
  return isLower ? ranked : promote(ranked, unranked);
}

DType promote(DType a, DType b) {
  if (a == b) {
    return a;
  }
  int ra = rankOf(a), rb = rankOf(b);
  bool isMixed =
      (isSignedInteger(a) && isUnsignedInteger(b)) || (isUnsignedInteger(a) && isSignedInteger(b));
  if (isMixed &&
      sizeInBytes(isUnsignedInteger(a) ? a : b) >= sizeInBytes(isUnsignedInteger(a) ? b : a)) {
    // The next wider signed type holds both; nothing holds uint64 and a sign.
    DType wide = isUnsignedInteger(a) ? a : b;
    return wide == DType::U8 ? DType::I16 : wide == DType::U16 ? DType::I32 : DType::I64;
  }
  if (ra != rb) {
    return ra > rb ? a : b;
  }
  return DType::F32; // float16 with bfloat16
}

DType castDtype(const Operation &operation, DType own) {
  const std::string name = operation.name.substr(std::string("to_").size());
  return name == "own" ? own : parseDType(name).value_or(own);
}

bool holdsAll(DType type, DType from) {
  if (type == from || type == DType::Bool || isFloat(from) > isFloat(type)) {
    return type == from;
  }
  const Digits own = digitsOf(type), given = digitsOf(from);
  return own.count >= given.count && own.lowest <= given.lowest && own.highest >= given.highest &&
         (own.isSigned || !given.isSigned) && type != DType::F8E4M3FN;
}

DType computedDtype(const Operation &operation, std::span<const TypedOperand> operands,
                    DType otherwise) {
  if (operation.result == ResultType::Cast) {
    return castDtype(operation, otherwise);
  }
  std::optional<DType> joined;
  bool hasWhole = false, hasFraction = false, hasNeutral = false;
  for (size_t i = 0; i < operands.size(); ++i) {
    if (isCondition(operation, i)) {
      continue;
    }
    const TypedOperand &operand = operands[i];
    if (operand.kind == OperandKind::Tensor) {
      joined = joined ? promote(*joined, operand.dtype) : operand.dtype;
    }
    hasWhole |= operand.kind == OperandKind::Whole;
    hasFraction |= operand.kind == OperandKind::Fraction;
    hasNeutral |= operand.kind == OperandKind::Neutral;
  }
  if (operation.result == ResultType::Bool && !joined && hasWhole && !hasFraction) {
    return DType::I64; // sizes are compared as they are, also beyond what the operator's type holds
  }
  DType type = joined.value_or(otherwise);
  const bool choosesNumbers = operation.name == "where" && !joined && !hasNeutral;
  if (isFloat(type) && !choosesNumbers) {
    return type;
  }
  if (hasFraction || needsFloat(operation)) {
    // PyTorch's default type, which who computes in float64 sets to that.
    return otherwise == DType::F64 ? DType::F64 : DType::F32;
  }
  bool countsAsNumber = operation.name == "sum" || operation.name == "prod" ||
                        operation.name == "cumsum" || operation.name == "cumprod";
  bool isMadeOfNumbers = hasWhole && (type == DType::Bool || choosesNumbers);
  return countsAsNumber || isMadeOfNumbers ? DType::I64 : type;
}

DType resultDtype(const Operation &operation, std::span<const TypedOperand> operands,
                  DType otherwise) {
  return operation.result == ResultType::Bool       ? DType::Bool
         : operation.result == ResultType::Position ? DType::I64
                                                    : computedDtype(operation, operands, otherwise);
}

OperandKind operandKind(const Node &node) {
  if (!isNumber(node)) {
    return OperandKind::Tensor;
  }
  return node.attributes.contains("default")   ? OperandKind::Neutral
         : node.attributes.contains("integer") ? OperandKind::Whole
                                               : OperandKind::Fraction;
}

std::vector<TypedOperand> typedOperands(const Node &node, const std::vector<Node> &nodes,
                                        const std::vector<DType> &types) {
  std::vector<TypedOperand> operands;
  for (int input : node.inputs) {
    auto i = static_cast<size_t>(input);
    operands.push_back({types[i], operandKind(nodes[i])});
  }
  return operands;
}

int64_t lowestInteger(DType type) {
  const auto bits = static_cast<int>(8 * sizeInBytes(type));
  return isSignedInteger(type) ? -(int64_t{1} << (bits - 2)) * 2 : 0;
}

uint64_t highestInteger(DType type) {
  if (type == DType::Bool) {
    return 1;
  }
  const auto bits = static_cast<int>(8 * sizeInBytes(type)) - (isSignedInteger(type) ? 1 : 0);
  return bits == 64 ? ~uint64_t{0} : (uint64_t{1} << bits) - 1;
}

bool fitsInteger(int64_t value, DType type) {
  return value < 0 ? value >= lowestInteger(type)
                   : static_cast<uint64_t>(value) <= highestInteger(type);
}

Status checkTypes(const Node &node, const std::vector<Node> &nodes, const std::vector<DType> &types,
                  DType operatorType) {
  const Operation *operation = findOperation(node.op);
  if (!operation) {
    return Done{};
  }
  if (operation->kind == OperationKind::Indexing) {
    return checkIndexing(node, nodes, types);
  }
  if (operation->kind == OperationKind::Creation) {
    const DType type = createdDtype(node, operatorType);
    return isFloat(type) ? Status(Done{}) : checkNumbers(node, nodes, type);
  }
  std::vector<TypedOperand> operands = typedOperands(node, nodes, types);
  if (operation->result == ResultType::Cast) {
    return Done{};
  }
  for (const TypedOperand &operand : operands) {
    if (operand.kind == OperandKind::Tensor && isFloat8(operand.dtype) &&
        operation->kind != OperationKind::View) {
      return refuse(node, "does not compute on 8-bit floats", operand.dtype)
          .withHelp("convert them first, as in 'x.to(torch.float32)'");
    }
  }
  if (Status fits = checkMixture(node, *operation, operands); !fits) {
    return fits;
  }
  const size_t condition = node.op == "masked_fill" ? 1 : 0;
  const bool hasCondition = node.op == "where" || node.op == "masked_fill";
  const DType chosenBy = hasCondition ? operands[condition].dtype : DType::Bool;
  if (hasCondition && operands[condition].kind == OperandKind::Tensor && chosenBy != DType::Bool) {
    return refuse(node, "expects a bool condition", chosenBy).withHelp("compare it: 'mask != 0'");
  }
  // Before a function makes floats of them.
  DType given = operatorType;
  for (size_t i = operands.size(); i-- > 0;) {
    given = operands[i].kind == OperandKind::Tensor && !isCondition(*operation, i)
                ? operands[i].dtype
                : given;
  }
  const DType computed = computedDtype(*operation, operands, operatorType);
  if (operation->result == ResultType::FloatOnly && !isFloat(given)) {
    return refuse(node, "expects floating-point numbers", given)
        .withHelp("PyTorch has it for floats only; 'x * 1.0' makes float32 of integers and bools");
  }
  if (operation->result == ResultType::IntegerOnly && isFloat(computed)) {
    return refuse(node, "expects integers or bool tensors", computed)
        .withHelp("compare first, or give the input an integer type");
  }
  if (isFloat(computed)) {
    return Done{};
  }
  if (node.op == "masked_fill" &&
      operandKind(nodes[static_cast<size_t>(node.inputs[2])]) == OperandKind::Fraction) {
    return refuse(node, "of integers expects a value without a fraction", computed)
        .withHelp("use torch.where(mask, value, x), which computes floats");
  }
  const bool isSelection = node.op == "where" || node.op == "masked_fill";
  const bool isShift = node.op == "bitwise_left_shift" || node.op == "bitwise_right_shift";
  const bool isOfNumbers = operation->result == ResultType::Same ||
                           operation->result == ResultType::Input ||
                           operation->result == ResultType::Position || isShift;
  bool isArithmetic = isOfNumbers && !isSelection &&
                      (operation->kind == OperationKind::Pointwise ||
                       operation->kind == OperationKind::Contraction || node.op == "amax" ||
                       node.op == "amin" || node.op == "argmax" || node.op == "argmin");
  if (isArithmetic && computed == DType::Bool) {
    return makeError("E0608",
                     fmt::format("'{}' expects numbers, but got bool tensors only", node.op))
        .withHelp("combine masks with & | ^ ~, count them with torch.sum, or select with "
                  "torch.where");
  }
  if (node.op == "pow") {
    return checkPower(node, nodes, computed);
  }
  return checkNumbers(node, nodes, computed);
}

} // namespace nereid::definition
