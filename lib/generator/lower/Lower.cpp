// SPDX-License-Identifier: Apache-2.0
// Nodes of operators' graphs as lazy tensors, see Lower.h.
#include "lib/generator/lower/Lower.h"

#include "lib/definition/operations/SizeExpression.h"
#include "lib/definition/operations/View.h"
#include "lib/definition/operations/indices/Creation.h"
#include "lib/definition/operations/sizes/SizeRules.h"
#include "lib/generator/KernelExpression.h"
#include "lib/generator/lower/Lowerer.h"
#include "lib/generator/lower/Moves.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <numeric>

namespace nereid::generator {

using definition::OperandKind;

namespace {

constexpr int64_t largestDivisor = 1 << 16;

/// What is put behind nothing, or padded, has elements all the same; and where sizes choose a
/// value, one of them may be 0.
bool mayHaveEmptySizes(const definition::Operator &op) {
  std::vector<bool> isOfSizes; // numbers that sizes are in
  for (const definition::Node &node : op.nodes) {
    auto isOf = [&](int input) { return isOfSizes[static_cast<size_t>(input)]; };
    if (node.op == "cat" || node.op == "pad" || node.op.starts_with("_") ||
        (node.op == "where" && isOf(node.inputs[0]))) {
      return true;
    }
    isOfSizes.push_back(
        node.shape.empty() &&
        (definition::isSize(node) || std::any_of(node.inputs.begin(), node.inputs.end(), isOf)));
  }
  return false;
}

/// What divides every value of the size, as constraints such as "D % 8 == 0" say: D // 8 is an
/// eighth of D then, and a row of D elements has parts of that many.
int64_t divisorOf(const definition::Operator &op, const std::string &size) {
  using Kind = definition::ConstraintTerm::Kind;
  int64_t divisor = 1;
  for (const definition::Constraint &each : op.constraints) {
    const definition::ConstraintTerm &rest = each.left, &zero = each.right;
    const bool isRest = each.relation == "==" && rest.kind == Kind::Binary && rest.name == "%" &&
                        zero.kind == Kind::Number && zero.number == 0;
    if (isRest && rest.operands[0].kind == Kind::Symbol && rest.operands[0].name == size &&
        rest.operands[1].kind == Kind::Number && rest.operands[1].number >= 1 &&
        rest.operands[1].number <= largestDivisor) {
      divisor = std::lcm(divisor, static_cast<int64_t>(rest.operands[1].number));
    }
  }
  return divisor <= largestDivisor ? divisor : 1;
}

} // namespace

Program Lowerer::run() {
  const int64_t least = mayHaveEmptySizes(op) ? 0 : 1;
  const std::vector<std::string> all = definition::symbolsOf(op);
  const std::string leading = leadingSymbol([&](const std::string &name) {
    return std::find(all.begin(), all.end(), name) != all.end();
  });
  for (const std::string &symbol : all) {
    sizes.emplace(symbol, program.space.symbols.add({symbol == "..." ? leading : symbol, least,
                                                     std::nullopt, divisorOf(op, symbol)}));
  }
  takeRules();
  for (size_t i = 0; i < op.nodes.size(); ++i) {
    const GraphNode &node = op.nodes[i];
    std::vector<Lowered> operands;
    for (int input : node.inputs) {
      operands.push_back(values[static_cast<size_t>(input)]);
    }
    current = i;
    values.push_back(i < op.parameters.size()
                         ? parameter(op.parameters[i])
                         : kept(i, called(i, apply(node, std::move(operands)))));
  }
  store();
  // A line of which nobody asked for a value.
  std::erase_if(program.stages, [](const Stage &stage) { return stage.stores.empty(); });
  return std::move(program);
}

/// Sizes as the products that constraints make of them, where shapes have their factors: indices of
/// one are then sums of indices of the others.
void Lowerer::takeRules() {
  std::vector<std::string> quotients;
  bool anyReshape = false;
  for (const GraphNode &node : op.nodes) {
    anyReshape |= node.attributes.contains("divides");
    for (const definition::Dim &dim : node.shape) {
      for (std::string &each : definition::SizePolynomial::of(dim).quotients()) {
        quotients.push_back(std::move(each));
      }
    }
  }
  const definition::SizeRules rules(op);
  for (const definition::SizeRule &rule : rules.all()) {
    const bool isByNumber = rule.divisor.constant().value_or(0) > 0;
    const bool isProduct = rule.divisor == definition::SizePolynomial(0);
    const auto size = sizes.find(rule.name);
    if (isByNumber || size == sizes.end()) {
      continue;
    }
    const auto isQuotient = [&](const std::string &text) {
      return text == definition::SizePolynomial::symbol(rule.name).floorDivide(rule.divisor).text();
    };
    const bool isUsed =
        isProduct ? anyReshape : std::any_of(quotients.begin(), quotients.end(), isQuotient);
    const auto value = isUsed ? sizeIn(program, sizes, rule.value) : std::nullopt;
    size->second = value.value_or(size->second);
  }
  for (size_t i = 0; i < op.parameters.size(); ++i) { // dimensions of inputs that are computed
    const definition::SymbolicShape &shape = op.parameters[i].shape;
    for (size_t d = 0; !op.parameters[i].isScalar && d < shape.size(); ++d) {
      const auto size = sizes.find(shape[d].symbol);
      if (op.nodes[i].shape[d] != shape[d] && size != sizes.end()) {
        const auto value =
            sizeIn(program, sizes, definition::SizePolynomial::of(op.nodes[i].shape[d]));
        size->second = value.value_or(size->second);
      }
    }
  }
}

Lowered Lowerer::parameter(const definition::Parameter &parameter) {
  Lowered result;
  result.dtype = parameter.fixedDtype.value_or(dtype);
  if (parameter.isScalar) {
    result.kind = parameter.isInteger ? OperandKind::Whole : OperandKind::Fraction;
    result.isRounded = !parameter.isInteger;
    // Beside integers a fraction is a float, as it makes floats of them.
    const DType fraction = isFloat(result.dtype) ? computed(result.dtype) : DType::F32;
    const DType type = parameter.isInteger ? DType::I64 : fraction;
    result.tensor = make.constant(program.nodes.parameter(parameter.name, type));
    return result;
  }
  Buffer buffer;
  buffer.name = parameter.name;
  buffer.dtype = result.dtype;
  for (const definition::Dim &dim : parameter.shape) {
    buffer.sizes.push_back(size(dim));
  }
  buffer.strides = contiguousStrides(buffer.sizes);
  result.tensor = make.input(program.add(std::move(buffer)));
  result.isNonNegative = parameter.range && parameter.range->low.find('-') == std::string::npos;
  return result;
}

/// The value of a node of the graph under the name that the body gives it, or that an account does.
Lowered Lowerer::called(size_t number, Lowered value) {
  const GraphNode &node = op.nodes[number];
  if (value.isNumber() || (node.name.empty() && !isTold)) {
    return value;
  }
  auto call = [this, number](const Node *made) {
    const GraphNode &own = op.nodes[number];
    if (isTold) {
      claim(made, number);
    } else {
      program.nodes.call(made, own.name);
    }
  };
  value.tensor.at = [call, at = value.tensor.at](const Point &point) {
    const Node *made = at(point);
    call(made);
    return made;
  };
  if (value.line) {
    call(value.line->value);
  }
  return value;
}

/// What the value is made of that no operation before it has made comes from this one.
void Lowerer::claim(const Node *value, size_t number) {
  using Kind = NodeKind;
  const definition::Operation *operation = definition::findOperation(op.nodes[number].op);
  if (!operation || operation->kind == definition::OperationKind::View) {
    return; // computes nothing
  }
  const std::string word = std::to_string(number);
  std::vector<const Node *> work = {value};
  while (!work.empty()) {
    const Node *each = work.back();
    work.pop_back();
    const bool isMade = each->kind == Kind::Map || each->kind == Kind::Reduce ||
                        each->kind == Kind::Scan || each->kind == Kind::Order ||
                        each->kind == Kind::Pick || each->kind == Kind::Random;
    if (isMade && program.nodes.wordFor(each).empty()) {
      program.nodes.call(each, word);
      work.insert(work.end(), each->inputs.begin(), each->inputs.end());
    }
  }
}

/// The value as readers get it: from memory, where that is better than computing it for each.
Lowered Lowerer::kept(size_t number, Lowered value) {
  const std::optional<std::string> why =
      value.isNumber() || value.line ? std::nullopt : keptTensors.why(static_cast<int>(number));
  if (!why) {
    return value;
  }
  const BufferId saved = temporary("left", value.tensor.shape, value.tensor.dtype, *why);
  make.store("left", {{saved, value.tensor}});
  keptTensors.keep(number);
  value.tensor = stored(saved);
  return value;
}

/// Outputs of one shape are a stage: what they share is computed once.
void Lowerer::store() {
  std::vector<std::vector<std::pair<BufferId, Lazy>>> stages;
  for (size_t i = 0; i < op.outputs.size(); ++i) {
    const Lowered &value = values[static_cast<size_t>(op.outputs[i])];
    if (program.find(op.outputNames[i])) { // written where it was computed
      continue;
    }
    Buffer buffer;
    buffer.name = op.outputNames[i];
    buffer.role = BufferRole::Output;
    buffer.dtype = value.dtype;
    buffer.sizes = value.tensor.shape;
    buffer.strides = contiguousStrides(buffer.sizes);
    const bool isOwn = definition::memoryOf(op, i) < 0;
    if (const auto met = isOwn ? reshapedResult(op.outputs[i]) : std::nullopt) {
      const BufferId whole = program.add(std::move(buffer));
      program.buffers[*met].role = BufferRole::Output;
      program.buffers[*met].base = whole;
      continue;
    }
    if (value.line) {
      const LineResult &line = *value.line;
      program.stages[line.stage].stores.push_back(
          {program.add(std::move(buffer)), line.point, line.value, "", line.guard});
      continue;
    }
    auto same = std::find_if(stages.begin(), stages.end(), [&](const auto &stage) {
      return stage[0].second.shape == value.tensor.shape;
    });
    same = same == stages.end() ? stages.emplace(stages.end()) : same;
    same->emplace_back(program.add(std::move(buffer)), value.tensor);
  }
  for (const auto &stage : stages) {
    make.store(op.name, stage);
  }
}

/// Whether the operation gives numbers that its operands' type may not have, beside those of
/// theirs.
static bool rounds(const definition::Node &node) {
  constexpr double wholeInAllTypes = 256; // bfloat16 has eight bits
  if (node.op == "constant") {
    const double value = definition::constantValue(node);
    return std::isfinite(value) &&
           (value != std::trunc(value) || std::fabs(value) > wholeInAllTypes);
  }
  const definition::Operation *operation = definition::findOperation(node.op);
  return definition::isSize(node) || (operation && operation->rounding != 0);
}

Lowered Lowerer::apply(const GraphNode &node, std::vector<Lowered> in) {
  const definition::Operation *operation = definition::findOperation(node.op);
  const bool isCast = operation && operation->result == definition::ResultType::Cast;
  const bool isOfRounded =
      std::any_of(in.begin(), in.end(), [](const Lowered &each) { return each.isRounded; });
  Lowered result = applied(node, std::move(in));
  result.isRounded = isCast && sizeInBytes(result.dtype) <= 2 ? false : rounds(node) || isOfRounded;
  return result;
}

Lowered Lowerer::applied(const GraphNode &node, std::vector<Lowered> in) {
  if (node.op == "constant") {
    Lowered number;
    number.real = definition::constantValue(node);
    number.integer = definition::integerAttribute(node, "integer", 0);
    number.kind = definition::operandKind(node);
    number.dtype = dtype;
    return number;
  }
  if (definition::isSize(node)) {
    return sizeNumber(node);
  }
  if (definition::isCreation(node)) {
    return created(node, in);
  }
  const definition::Operation &operation = *definition::findOperation(node.op);
  std::vector<definition::TypedOperand> typed;
  for (const Lowered &value : in) {
    typed.push_back({value.dtype, value.kind});
  }
  const DType type = definition::computedDtype(operation, typed, dtype);
  if (operation.result == definition::ResultType::Cast) {
    return converted(in[0], type);
  }
  if (const definition::Operator *lowering = definition::loweringOf(node, type)) {
    Lowered result = inlined(*lowering, std::move(in));
    result.dtype = definition::resultDtype(operation, typed, dtype);
    result.tensor = make.cast(result.tensor, computed(result.dtype));
    return result;
  }
  const bool isPointwise = operation.kind == definition::OperationKind::Pointwise;
  if (isPointwise && !hasExpression(node.op, isFloat(type))) {
    throw Unsupported{node.op};
  }
  Lowered result;
  result.dtype = definition::resultDtype(operation, typed, dtype);
  const DType inside = computed(type);
  switch (operation.kind) {
  case definition::OperationKind::Pointwise:
    result.tensor = pointwise(node.op, in, inside);
    break;
  case definition::OperationKind::Reduction:
    result.tensor = reduction(node, in[0], computed(result.dtype));
    break;
  case definition::OperationKind::Contraction:
    result.tensor = product(as(in[0], inside), as(in[1], inside));
    if (isSpread(current)) {
      const BufferId saved = temporary("product", result.tensor.shape, inside,
                                       "results ask for the same elements of the product, as "
                                       "windows overlap, and it is computed once");
      make.store("product", {{saved, result.tensor}});
      result.tensor = stored(saved);
    }
    break;
  case definition::OperationKind::Convolution:
    result.tensor = convolved(node, in, inside);
    break;
  case definition::OperationKind::View:
    result.tensor =
        definition::isMovement(node) ? movedTensor(node, in) : viewed(node, in[0].tensor);
    break;
  case definition::OperationKind::Scan:
  case definition::OperationKind::Sort: {
    const LineTensor made = along(node, as(in[0], inside));
    result.tensor = made.tensor;
    result.line = made.result;
    break;
  }
  case definition::OperationKind::Indexing:
    result.tensor = indexed(node, in, result.dtype);
    return result;
  default:
    throw Unsupported{node.op};
  }
  if (operation.kind != definition::OperationKind::View) {
    result.tensor = make.cast(result.tensor, computed(result.dtype));
  }
  return result;
}

Lowered Lowerer::inlined(const definition::Operator &lowering, std::vector<Lowered> in) {
  for (size_t i = in.size(); i < lowering.nodes.size(); ++i) {
    std::vector<Lowered> operands;
    for (int input : lowering.nodes[i].inputs) {
      operands.push_back(in[static_cast<size_t>(input)]);
    }
    in.push_back(apply(lowering.nodes[i], std::move(operands)));
  }
  return in[static_cast<size_t>(lowering.outputs[0])];
}

LineTensor Lowerer::along(const GraphNode &node, const Lazy &x) {
  const size_t dim = dimsOf(node, x.shape)[0];
  return definition::findOperation(node.op)->kind == definition::OperationKind::Sort
             ? lines.sorted(node, x, dim)
             : lines.scanned(node.op, x, node.inputs[0], dim);
}

Lazy Lowerer::viewed(const GraphNode &node, const Lazy &x) {
  if (node.op == "unsqueeze") {
    const int64_t dim = definition::integerAttribute(node, "dim", 0);
    const auto count = static_cast<int64_t>(x.shape.size()) + 1;
    return make.insertDim(x, static_cast<size_t>(dim < 0 ? dim + count : dim));
  }
  return make.permute(x, *definition::viewOrder(node, x.shape.size()));
}

Lazy Lowerer::movedTensor(const GraphNode &node, const std::vector<Lowered> &in) {
  const bool isOne = std::all_of(in.begin(), in.end(), [&](const Lowered &value) {
    return value.tensor.dtype == in[0].tensor.dtype;
  });
  std::vector<Lazy> operands; // some are computed, others as they are stored
  for (const Lowered &value : in) {
    operands.push_back(isOne ? value.tensor : as(value, computed(value.dtype)));
  }
  std::optional<Lazy> result = moved(node, operands, program, make, sizes);
  if (!result) {
    throw Unsupported{node.op};
  }
  return *result;
}

Lazy Lowerer::pointwise(const std::string &name, const std::vector<Lowered> &in, DType type) {
  const bool isLogical = name.starts_with("logical_");
  const bool isRounding = name == "floor" || name == "ceil" || name == "round" || name == "trunc";
  std::vector<Lazy> operands;
  for (size_t i = 0; i < in.size(); ++i) {
    bool isCondition = isLogical || (name == "where" && i == 0);
    operands.push_back(isCondition ? asCondition(in[i]) : as(in[i], type));
  }
  if (isRounding && !isFloat(type)) {
    return operands[0];
  }
  const bool isOfBools = name.starts_with("bitwise_") && type == DType::Bool;
  return make.map(isOfBools ? "logical_" + name.substr(8) : name, std::move(operands));
}

std::string leadingSymbol(const std::function<bool(const std::string &)> &isSize) {
  std::string name = "rest";
  while (isSize(name)) {
    name += "_all";
  }
  return name;
}

Result<Program> lower(const definition::Operator &op, DType dtype) {
  try {
    return Lowerer(op, dtype).run();
  } catch (const Lowerer::Unsupported &found) {
    return makeError("E0607", fmt::format("operation '{}' has no lowering", found.op));
  }
}

Result<ToldProgram> lowerTold(const definition::Operator &op, DType dtype) {
  try {
    Lowerer lowerer(op, dtype, true);
    Program program = lowerer.run();
    ToldProgram told{std::move(program), lowerer.reasonsOfTemporaries()};
    for (BufferId buffer = 0; buffer < told.program.buffers.size(); ++buffer) {
      if (told.program.buffers[buffer].role == BufferRole::Temporary) {
        told.reasons.emplace(buffer, "a kernel that scans or sorts takes its line from memory, and "
                                     "what needs other places of a line comes behind it");
      }
    }
    return told;
  } catch (const Lowerer::Unsupported &found) {
    return makeError("E0607", fmt::format("operation '{}' has no lowering", found.op));
  }
}

} // namespace nereid::generator
