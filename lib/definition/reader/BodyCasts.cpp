// SPDX-License-Identifier: Apache-2.0
#include "lib/definition/reader/BodyCasts.h"

#include "lib/definition/operations/Promotion.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <map>

namespace nereid::definition {

using language::Expr;
using language::ExprKind;

namespace {

/// PyTorch's methods of one type, and its other names of types.
const std::map<std::string, DType> &shortNames() {
  static const std::map<std::string, DType> names = {
      {"float", DType::F32}, {"double", DType::F64}, {"half", DType::F16},
      {"int", DType::I32},   {"long", DType::I64},   {"short", DType::I16},
      {"char", DType::I8},   {"byte", DType::U8},    {"bool", DType::Bool}};
  return names;
}

/// torch.int8; char and byte are methods alone.
std::optional<DType> namedType(const std::string &name) {
  const auto other = shortNames().find(name);
  if (other != shortNames().end() && name != "char" && name != "byte") {
    return other->second;
  }
  const std::optional<DType> type = parseDType(name);
  const bool isKnown = type && name == torchName(*type) && findOperation("to_" + name) != nullptr;
  return isKnown ? type : std::nullopt;
}

} // namespace

const std::vector<std::string> &BodyCasts::names() {
  static const std::vector<std::string> list = [] {
    std::vector<std::string> made = {"to", "type", "type_as", "bfloat16"};
    for (const auto &[name, type] : shortNames()) {
      made.push_back(name);
    }
    return made;
  }();
  return list;
}

std::optional<std::string> BodyCasts::target(const Expr &type) {
  if (const Expr *named = body.known.literalNamed(type)) { // dtype = x.dtype
    return target(*named);
  }
  const bool isAttribute = type.kind == ExprKind::Attribute;
  const Expr *base = isAttribute ? type.operands[0].get() : nullptr;
  if (isAttribute && base->kind == ExprKind::Name && base->text == "torch" &&
      !body.lookup("torch")) {
    if (const std::optional<DType> named = namedType(type.text)) {
      return std::string(torchName(*named));
    }
    body.fail("E0605", type.range, fmt::format("unknown type 'torch.{}'", type.text))
        .withHelp("available: bool, int8 to int64, uint8 to uint64, float16, bfloat16, float32, "
                  "float64, float8_e4m3fn, float8_e5m2");
    return std::nullopt;
  }
  if (!isAttribute || type.text != "dtype") {
    body.fail("E0608", type.range, "a conversion expects a type")
        .withHelp("such as 'x.to(torch.float16)', or 'x.to(y.dtype)' for that of another tensor");
    return std::nullopt;
  }
  const std::optional<int> like = body.read(*base);
  return like ? typeOf(*like, type.range) : std::nullopt;
}

std::optional<std::string> BodyCasts::spelled(const std::vector<DType> &wanted) const {
  const bool isOne = !wanted.empty() && std::all_of(wanted.begin(), wanted.end(),
                                                    [&](DType type) { return type == wanted[0]; });
  if (isOne) {
    return std::string(torchName(wanted[0]));
  }
  return wanted == body.dtypes ? std::optional<std::string>("own") : std::nullopt;
}

std::optional<std::string> BodyCasts::typeOf(int node, SourceRange range) {
  std::vector<DType> types;
  for (const std::vector<DType> &each : body.types) {
    types.push_back(each[static_cast<size_t>(node)]);
  }
  std::optional<std::string> found = spelled(types);
  if (!found) {
    body.fail("E0608", range,
              "a conversion expects one type, or that of the operator, but the type of this tensor "
              "follows from the operator's in another way")
        .withHelp("name the type: 'x.to(torch.float32)'");
  }
  return found;
}

bool BodyCasts::convertToOne(std::vector<int> &parts, const std::string &name, SourceRange range) {
  std::vector<DType> together;
  for (const std::vector<DType> &each : body.types) {
    together.push_back(each[static_cast<size_t>(parts[0])]);
    for (int part : parts) {
      const DType type = each[static_cast<size_t>(part)];
      if (!havePromotion(together.back(), type)) {
        body.fail("E0605", range,
                  fmt::format("'{}' expects tensors of one type, as PyTorch promotes no uint16, "
                              "uint32 and uint64, but got {} and {}",
                              name, torchName(together.back()), torchName(type)))
            .withHelp("give the inputs one type");
        return false;
      }
      together.back() = promote(together.back(), type);
    }
  }
  const std::optional<std::string> target = spelled(together);
  for (int &part : parts) {
    const std::optional<int> made =
        target ? converted(part, *target, false, range) : std::optional<int>();
    if (target && !made) {
      return false;
    }
    part = made.value_or(part);
  }
  return true; // where they are of different types still, who joins them says so
}

std::optional<int> BodyCasts::call(const BodyExpressions::Call &call) {
  const Expr &whole = *call.whole;
  const auto method = shortNames().find(call.function);
  std::optional<std::string> target;
  if (method != shortNames().end()) {
    target = torchName(method->second);
  } else if (call.function == "bfloat16") {
    target = call.function;
  }
  const Expr *given = call.positional.empty() ? nullptr : call.positional[0];
  size_t count = call.positional.size();
  for (const language::Keyword &keyword : whole.keywords) {
    const bool isType =
        keyword.name == "dtype" && (call.function == "to" || call.function == "type");
    given = isType ? keyword.value.get() : given;
    count += isType ? 1 : 2; // whatever else there is, a conversion does not take it
  }
  if (count != (target ? 0 : 1)) {
    body.fail("E0608", whole.range,
              fmt::format("'{}' expects {}", call.function,
                          target ? "no argument" : "one argument, the type"))
        .withHelp("such as 'x.to(torch.float16)'");
    return std::nullopt;
  }
  const std::optional<int> input = body.read(*call.receiver);
  if (!input) {
    return std::nullopt;
  }
  if (!target && call.function == "type_as") {
    const std::optional<int> like = body.read(*given);
    target = like ? typeOf(*like, given->range) : std::nullopt;
  } else if (!target) {
    target = this->target(*given);
  }
  if (!target) {
    return std::nullopt;
  }
  return converted(*input, *target, false, whole.range);
}

std::optional<int> BodyCasts::like(int value, int other, bool isNew, SourceRange range) {
  const std::optional<std::string> target = typeOf(other, range);
  return target ? converted(value, *target, isNew, range) : std::nullopt;
}

std::optional<int> BodyCasts::converted(int node, const std::string &target, bool isNew,
                                        SourceRange range) {
  const Operation &operation = *findOperation("to_" + target);
  const bool isNumberHere = isNumber(body.op.nodes[static_cast<size_t>(node)]);
  return isAlready(node, operation) && !isNew && !isNumberHere
             ? node
             : body.apply(operation.name, {node}, range);
}

bool BodyCasts::isAlready(int node, const Operation &operation) const {
  bool isSame = !body.types.empty();
  for (size_t i = 0; i < body.types.size(); ++i) {
    const DType type = body.types[i][static_cast<size_t>(node)];
    isSame = isSame && type == castDtype(operation, body.dtypes[i]);
  }
  return isSame;
}

std::optional<DType> BodyCasts::decided(const Node &node, const Operation &operation,
                                        const std::vector<DType> &types, DType own) const {
  const std::vector<TypedOperand> operands = typedOperands(node, body.op.nodes, types);
  std::optional<DType> ranked, unranked;
  for (size_t i = 0; i < operands.size(); ++i) {
    if (operands[i].kind == OperandKind::Tensor && !isCondition(operation, i)) {
      const bool hasRank = !body.op.nodes[static_cast<size_t>(node.inputs[i])].shape.empty();
      std::optional<DType> &joined = hasRank ? ranked : unranked;
      joined = joined ? promote(*joined, operands[i].dtype) : operands[i].dtype;
    }
  }
  if (!ranked || !unranked) {
    return std::nullopt;
  }
  const DType together = promoteRanked(*ranked, *unranked);
  const bool makesFloats = !isFloat(together) && isFloat(computedDtype(operation, operands, own));
  return together == promote(*ranked, *unranked) || makesFloats ? std::nullopt
                                                                : std::optional(together);
}

bool BodyCasts::convertUnranked(Node &node, const Operation &operation, SourceRange range) {
  bool isNeeded = false;
  std::vector<DType> wanted;
  for (size_t i = 0; i < body.types.size(); ++i) {
    const std::optional<DType> type = decided(node, operation, body.types[i], body.dtypes[i]);
    const std::vector<TypedOperand> operands = typedOperands(node, body.op.nodes, body.types[i]);
    wanted.push_back(type.value_or(computedDtype(operation, operands, body.dtypes[i])));
    isNeeded |= type.has_value();
  }
  if (!isNeeded) {
    return true;
  }
  const std::optional<std::string> target = spelled(wanted);
  if (!target) {
    body.fail("E0605", range,
              fmt::format("'{}' of tensors with and without dimensions computes in a type that "
                          "follows from the operator's in more than one way",
                          node.op))
        .withHelp("convert the one without dimensions, as in 'scale.to(torch.float32)'");
    return false;
  }
  for (size_t i = 0; i < node.inputs.size(); ++i) {
    const Node &operand = body.op.nodes[static_cast<size_t>(node.inputs[i])];
    if (isNumber(operand) || !operand.shape.empty() || isCondition(operation, i)) {
      continue;
    }
    const std::optional<int> made = converted(node.inputs[i], *target, false, range);
    if (!made) {
      return false;
    }
    node.inputs[i] = *made;
  }
  return true;
}

} // namespace nereid::definition
