// SPDX-License-Identifier: Apache-2.0
// Plain loops over broadcast indices; clarity before speed, since this is what others are checked
// against.
#include "lib/eager/reference/ReferenceGraph.h"

#include "lib/definition/Tolerance.h"
#include "lib/definition/operations/Promotion.h"
#include "lib/definition/operations/Shape.h"
#include "lib/definition/operations/indices/Along.h"
#include "lib/definition/operations/indices/Movement.h"
#include "lib/eager/reference/EqualExtremum.h"
#include "lib/eager/reference/ReferenceCast.h"
#include "lib/eager/reference/ReferenceConvolution.h"
#include "lib/eager/reference/ReferenceProduct.h"
#include "lib/eager/reference/ShiftedByMaximum.h"
#include "lib/eager/reference/ZeroSigns.h"
#include "lib/eager/reference/indices/ReferenceAlong.h"
#include "lib/eager/reference/indices/ReferenceIndexing.h"
#include "lib/eager/reference/indices/ReferenceMovement.h"
#include "lib/eager/reference/indices/RowRuns.h"
#include "lib/eager/reference/rules/IntegerRules.h"
#include "lib/eager/reference/rules/ReductionRules.h"
#include "runtime/elements/IntegerElements.h"

#include <algorithm>
#include <cmath>
#include <fmt/format.h>
#include <limits>

namespace nereid::eager {
namespace {

using definition::Node;
using definition::Operation;
using runtime::Tensor;

template <class T, class Convert>
void loadRun(const void *base, int64_t stride, Bounded *out, int64_t n, Convert convert) {
  const auto *in = static_cast<const T *>(base);
  for (int64_t i = 0; i < n; ++i) {
    out[i] = {convert(in[i * stride]), 0};
  }
}

/// `rule` null: the elements are computed otherwise.
Result<BoundedTensor>
pointwise(const Node &node, const std::vector<const BoundedTensor *> &operands, const Rule *rule) {
  BoundedTensor out;
  for (const BoundedTensor *operand : operands) {
    auto joined = definition::broadcastSizes(out.sizes, operand->sizes);
    if (!joined) {
      return makeError("E0604", fmt::format("'{}' cannot broadcast {} with {}", node.op,
                                            definition::sizesText(out.sizes),
                                            definition::sizesText(operand->sizes)));
    }
    out.sizes = std::move(*joined);
  }
  std::vector<std::vector<int64_t>> steps;
  for (const BoundedTensor *operand : operands) {
    steps.push_back(definition::broadcastSteps(operand->sizes, out.sizes));
  }
  auto count = static_cast<size_t>(definition::elementCountOf(out.sizes).value_or(0));
  out.allocate(count);
  if (!rule) {
    return out;
  }
  const RowRuns rows(out.sizes, steps);
  std::vector<const Bounded *> at(operands.size());
  const auto run = static_cast<size_t>(rows.length);
  RowRuns::Place place = rows.first();
  for (size_t first = 0; first < count; first += run, rows.advance(place)) {
    for (size_t k = 0; k < operands.size(); ++k) {
      at[k] = operands[k]->elements.data() + place.offsets[k];
    }
    rule->run(*rule, at.data(), rows.inner.data(), out.elements.data() + first, rows.length);
  }
  return out;
}

BoundedTensor reduction(const Node &node, const BoundedTensor &in, const ErrorModel &model) {
  std::vector<int64_t> dims = definition::dimsOf(node);
  auto rank = static_cast<int64_t>(in.sizes.size());
  BoundedTensor out;
  std::vector<int64_t> keptSizes;
  for (int64_t d = 0; d < rank; ++d) {
    bool reduced = dims.empty() || std::find(dims.begin(), dims.end(), d - rank) != dims.end();
    keptSizes.push_back(reduced ? 1 : in.sizes[static_cast<size_t>(d)]);
    if (!reduced || definition::keepsDim(node)) {
      out.sizes.push_back(keptSizes.back());
    }
  }
  bool isTrailing = dims.empty() || dims.front() == -static_cast<int64_t>(dims.size());
  auto groupCount = static_cast<size_t>(definition::elementCountOf(keptSizes).value_or(0));
  if (isTrailing && groupCount > 0) {
    size_t length = in.elements.size() / groupCount;
    for (size_t g = 0; g < groupCount; ++g) {
      std::span<const Bounded> group(in.elements.data() + g * length, length);
      out.elements.push_back(reduceRule(node, group, model));
    }
    return out;
  }
  std::vector<int64_t> steps = definition::broadcastSteps(keptSizes, in.sizes);
  std::vector<std::vector<Bounded>> members(groupCount);
  for (size_t i = 0; i < in.elements.size(); ++i) {
    auto rest = static_cast<int64_t>(i);
    int64_t group = 0;
    for (int64_t d = rank; d-- > 0;) {
      auto dim = static_cast<size_t>(d);
      group += rest % in.sizes[dim] * steps[dim];
      rest /= in.sizes[dim];
    }
    members[static_cast<size_t>(group)].push_back(in.elements[i]);
  }
  for (const std::vector<Bounded> &group : members) {
    out.elements.push_back(reduceRule(node, group, model));
  }
  return out;
}

/// Node after which each value is no longer needed; outputs stay.
std::vector<size_t> lastUses(const definition::Operator &graph) {
  std::vector<size_t> last(graph.nodes.size(), graph.nodes.size());
  for (size_t i = 0; i < graph.nodes.size(); ++i) {
    for (int input : graph.nodes[i].inputs) {
      last[static_cast<size_t>(input)] = i;
    }
  }
  for (int output : graph.outputs) {
    last[static_cast<size_t>(output)] = graph.nodes.size();
  }
  return last;
}

} // namespace

/// Lists of blocks that are done, of this thread.
template <class T> static std::vector<std::vector<T>> &spareLists() {
  thread_local std::vector<std::vector<T>> lists;
  return lists;
}

template <class T> static void keepList(std::vector<T> &list) {
  constexpr size_t mostLists = 32, mostElements = 65536;
  auto &spare = spareLists<T>();
  if (list.capacity() > 1 && list.capacity() <= mostElements && spare.size() < mostLists) {
    spare.push_back(std::move(list));
  }
}

/// The shortest of the lists that are long enough, as what a list grows by is cleared; else one
/// that can grow in its place.
template <class T> static void takeList(std::vector<T> &list, size_t n) {
  auto &spare = spareLists<T>();
  size_t best = spare.size();
  for (size_t i = spare.size(); list.capacity() < n && i-- > 0;) {
    const auto isLong = [&](size_t at) { return at < spare.size() && spare[at].size() >= n; };
    if (spare[i].capacity() < n || (isLong(best) && !isLong(i))) {
      continue;
    }
    if (best == spare.size() || !isLong(best) || spare[i].size() < spare[best].size()) {
      best = i;
    }
  }
  if (best < spare.size()) {
    list = std::move(spare[best]);
    spare.erase(spare.begin() + static_cast<ptrdiff_t>(best));
  }
  list.resize(n);
}

BoundedTensor::~BoundedTensor() {
  keepList(elements);
  keepList(integers);
}

void BoundedTensor::allocate(size_t n) { takeList(elements, n); }

void BoundedTensor::allocateIntegers(size_t n) { takeList(integers, n); }

/// Runs along the last dimension, so that no element needs its index taken apart.
BoundedTensor loadBounded(const Tensor &tensor) {
  BoundedTensor loaded;
  loaded.sizes = tensor.shape();
  loaded.isExact = true;
  int64_t count = tensor.elementCount();
  loaded.allocate(static_cast<size_t>(count));
  bool hasRows = !loaded.sizes.empty() && count > 0;
  int64_t run = hasRows ? loaded.sizes.back() : count;
  int64_t stride = hasRows ? tensor.strides().back() : 1;
  auto bytes = static_cast<int64_t>(sizeInBytes(tensor.dtype()));
  const bool isInteger = !isFloat(tensor.dtype()) && tensor.dtype() != DType::Bool;
  for (int64_t first = 0; first < count; first += run) {
    int64_t rest = first / run, offset = 0;
    for (size_t d = loaded.sizes.size() - (hasRows ? 1 : 0); d-- > 0;) {
      offset += rest % loaded.sizes[d] * tensor.strides()[d];
      rest /= loaded.sizes[d];
    }
    const char *base = static_cast<const char *>(tensor.data()) + offset * bytes;
    Bounded *out = loaded.elements.data() + first;
    switch (tensor.dtype()) {
    case DType::F32:
      loadRun<float>(base, stride, out, run, [](float x) { return static_cast<double>(x); });
      break;
    case DType::F64:
      loadRun<double>(base, stride, out, run, [](double x) { return x; });
      break;
    case DType::F16:
      loadRun<uint16_t>(base, stride, out, run, [](uint16_t x) { return fromHalf(x); });
      break;
    case DType::BF16:
      loadRun<uint16_t>(base, stride, out, run, [](uint16_t x) { return fromBFloat16(x); });
      break;
    default:
      for (int64_t i = 0; i < run; ++i) {
        out[i] = {loadAsDouble(base + i * stride * bytes, tensor.dtype()), 0};
        if (isInteger) {
          loaded.integers.push_back(
              runtime::loadInteger(base + i * stride * bytes, tensor.dtype()));
        }
      }
    }
  }
  return loaded;
}

namespace {

/// One operation after another, each in the arithmetic that its type asks for.
class GraphEvaluator {
public:
  GraphEvaluator(const definition::Operator &graph, const std::vector<DType> &types,
                 std::span<const Tensor> inputs, std::span<const BoundedTensor *const> loaded,
                 const ErrorModel &model)
      : graph(graph), types(types), inputs(inputs), loaded(loaded), model(model),
        values(graph.nodes.size()), at(graph.nodes.size()), highest(graph.nodes.size(), NAN) {}

  Result<std::vector<BoundedTensor>> run() {
    std::vector<size_t> lastUse = lastUses(graph);
    for (size_t i = 0; i < graph.nodes.size(); ++i) {
      const Node &node = graph.nodes[i];
      at[i] = &values[i];
      if (definition::isLeaf(node)) {
        leaf(i);
        continue;
      }
      auto value = operation(i);
      if (!value) {
        return value.error();
      }
      values[i] = std::move(*value);
      values[i].mayWrap = values[i].mayWrap || readsWrapped(i);
      for (int input : node.inputs) {
        if (lastUse[static_cast<size_t>(input)] == i) {
          BoundedTensor done = std::move(values[static_cast<size_t>(input)]);
        }
      }
    }
    return outputs();
  }

private:
  void leaf(size_t i) {
    const Node &node = graph.nodes[i];
    if (node.op == "constant") {
      const double value = definition::constantValue(node);
      const auto off = node.attributes.find("error");
      const bool isExact = off == node.attributes.end() || !std::isfinite(value);
      const double error = isExact ? 0 : std::get<double>(off->second);
      values[i].elements = {{value, error * definition::unitRoundoff(model.compute)}};
    } else if (i < loaded.size() && loaded[i]) {
      at[i] = loaded[i];
    } else {
      values[i] = loadBounded(inputs[i]);
    }
    bool isWhole = definition::operandKind(node) == definition::OperandKind::Whole;
    if (isWhole && at[i]->integers.empty()) {
      if (at[i] != &values[i]) {
        values[i].elements = at[i]->elements;
        at[i] = &values[i];
      }
      const auto given = static_cast<int64_t>(values[i].elements[0].value);
      values[i].integers = {static_cast<uint64_t>(
          node.op == "constant" ? definition::integerAttribute(node, "integer", given) : given)};
    }
  }

  /// A float64 operator may have float32 among its intermediates, where PyTorch makes floats of
  /// integers, and an operator of any type float64, by a conversion or an input of its own type.
  ErrorModel modelOf(size_t i) const {
    ErrorModel own = model;
    if (isFloat(types[i])) {
      own.compute = definition::computeType(types[i]);
      own.storage = types[i];
    }
    return own;
  }

  Result<BoundedTensor> operation(size_t i) {
    const Node &node = graph.nodes[i];
    const Operation &operation = *definition::findOperation(node.op);
    const DType computed = definition::computedDtype(
        operation, definition::typedOperands(node, graph.nodes, types), model.storage);
    std::vector<const BoundedTensor *> operands;
    for (int input : node.inputs) {
      operands.push_back(at[static_cast<size_t>(input)]);
    }
    const std::vector<BoundedTensor> opened = openEnds(i, operands), zeros = openZeros(i, operands);
    if (operation.result == definition::ResultType::Cast) {
      const DType from = types[static_cast<size_t>(node.inputs[0])];
      return castBounded(*operands[0], from, types[i], definition::holdsAll(types[i], from),
                         knownEnds(graph, node.inputs[0], types));
    }
    const bool isFloating = isFloat(computed);
    const ErrorModel own = modelOf(i);
    if (operation.kind == definition::OperationKind::Indexing) {
      return indexedBounded(node, operands, types[i], own);
    }
    std::vector<BoundedTensor> converted;
    converted.reserve(operands.size());
    for (size_t k = 0; (isFloating || computed == DType::Bool) && k < operands.size(); ++k) {
      const bool isNumber = definition::isNumber(graph.nodes[static_cast<size_t>(node.inputs[k])]);
      if (computed == DType::Bool) {
        if (isNumber) {
          converted.push_back(asTruth(*operands[k]));
          operands[k] = &converted.back();
        }
      } else if (!operands[k]->integers.empty()) {
        converted.push_back(asNumbers(*operands[k], computed, own));
        operands[k] = &converted.back();
      } else if (isNumber && own.compute == DType::F32) {
        converted.push_back(asFloats(*operands[k]));
        operands[k] = &converted.back();
      }
    }
    if (definition::isAlong(node)) {
      ErrorModel inside = own; // of what is found in floats, and may itself be an integer
      inside.storage = isFloating ? computed : own.storage;
      return alongBounded(node, *operands[0], types[static_cast<size_t>(node.inputs[0])], types[i],
                          inside);
    }
    const bool isOfIntegers = !isFloating && computed != DType::Bool;
    const bool isExact = isOfIntegers && operation.kind == definition::OperationKind::Pointwise &&
                         std::none_of(operands.begin(), operands.end(),
                                      [](const auto *each) { return anyError(*each); });
    if (isExact) { // no rule needs to be looked up
      Result<BoundedTensor> value = pointwise(node, operands, nullptr);
      if (value) {
        pointwiseIntegers(node, computed, operands, absentOperands(node), isExact, *value);
        value->isExact = true;
      }
      return value;
    }
    Rule rule = isFloating ? makeRule(node, operation, own) : exactRule(node, operation);
    rule.keepsRepresentable = rule.keepsRepresentable && !isExponent(i);
    rule.keepsExact = rule.keepsExact && !isExponent(i);
    // Or every root of a variance of 0 would count as one of less. Where each result is stored in
    // 16 bits, so is a number beside it, as in `x / max(norm, 1e-12)`, which may leave 0 by 0.
    if (isFloating && (node.op == "sqrt" || node.op == "pow") && !model.storesEachOperation &&
        isNeverNegative(graph, node.inputs[0])) {
      rule.lowest = 0;
    }
    BoundedTensor copies[2];
    switch (operation.kind) {
    case definition::OperationKind::Reduction: {
      BoundedTensor out = reduction(node, *operands[0], own);
      if (!isFloating) {
        dropRoundings(anyError(*operands[0]), out);
        reduceIntegers(node, types[i], *operands[0], out);
      }
      return out;
    }
    case definition::OperationKind::Contraction:
      if (!isFloating) {
        BoundedTensor out = productBounded(*operands[0], *operands[1], rule, own);
        dropRoundings(anyError(*operands[0]) || anyError(*operands[1]), out);
        productIntegers(types[i], *operands[0], *operands[1], out);
        return out;
      }
      return productBounded(asFactor(*operands[0], own, copies[0]),
                            asFactor(*operands[1], own, copies[1]), rule, own);
    case definition::OperationKind::Convolution:
      return convolutionBounded(node, asFactor(*operands[0], own, copies[0]),
                                asFactor(*operands[1], own, copies[1]), *operands[2], rule, own);
    case definition::OperationKind::View:
      if (definition::isMovement(node)) {
        return moveBounded(node, movedOperands(node), types[i]);
      }
      return viewBounded(node, *operands[0]);
    default:
      break;
    }
    Result<BoundedTensor> value = pointwise(node, operands, &rule);
    if (value && isOfIntegers) {
      value->mayWrap = types[i] == computed && maySpanEnds(node, *value, types[i]);
      pointwiseIntegers(node, computed, operands, absentOperands(node), isExact, *value);
    }
    if (value && isFloating) {
      boundSoftmax(i, own, *value);
    }
    if (value && isFloating && equalsExtremum(graph, node)) {
      boundEqual(graph, node, *operands[0], *operands[1], *value);
    }
    return value;
  }

  void boundSoftmax(size_t i, const ErrorModel &own, BoundedTensor &out) {
    const Node &node = graph.nodes[i];
    const auto operand = [&](size_t k) -> const BoundedTensor & {
      return *at[static_cast<size_t>(node.inputs[k])];
    };
    const auto known = [&](int shifted) {
      return shifted >= 0 && !std::isnan(highest[static_cast<size_t>(shifted)]);
    };
    if (shiftedByMaximum(graph, node) >= 0) {
      highest[i] = highestShifted(operand(0), own);
      boundShifted(operand(0), operand(1), out);
    } else if (const int from = exponentialOfShifted(graph, node); known(from)) {
      boundExponentials(operand(0), highest[static_cast<size_t>(from)], own, out);
    } else if (const int of = logarithmOfSum(graph, node); known(of)) {
      boundLogarithms(operand(0), highest[static_cast<size_t>(of)], own, out);
    } else if (known(shareOfSum(graph, node))) {
      boundShares(operand(0), operand(1), own, out);
    }
  }

  bool readsWrapped(size_t i) const {
    const Node &node = graph.nodes[i];
    for (size_t k = 0; k < node.inputs.size(); ++k) {
      const auto input = static_cast<size_t>(node.inputs[k]);
      if (at[input]->mayWrap && keepsWrapping(node, k, types[input], types[i])) {
        return true;
      }
    }
    return false;
  }

  /// Puts what is made of an operand in its place, if something is.
  template <class Made>
  static std::vector<BoundedTensor> exchange(std::vector<const BoundedTensor *> &operands,
                                             const Made &made) {
    std::vector<BoundedTensor> others;
    others.reserve(operands.size());
    for (size_t k = 0; k < operands.size(); ++k) {
      if (std::optional<BoundedTensor> other = made(k)) {
        others.push_back(std::move(*other));
        operands[k] = &others.back();
      }
    }
    return others;
  }

  /// Of operands that may have wrapped, see IntegerRules.h.
  std::vector<BoundedTensor> openEnds(size_t i,
                                      std::vector<const BoundedTensor *> &operands) const {
    const Node &node = graph.nodes[i];
    return exchange(operands, [&](size_t k) {
      const DType from = types[static_cast<size_t>(node.inputs[k])];
      return operands[k]->mayWrap && !keepsWrapping(node, k, from, types[i])
                 ? withOpenEnds(*operands[k], from)
                 : std::nullopt;
    });
  }

  /// Of operands whose zeros may be of either sign, where that matters.
  std::vector<BoundedTensor> openZeros(size_t i,
                                       std::vector<const BoundedTensor *> &operands) const {
    const Node &node = graph.nodes[i];
    return exchange(operands, [&](size_t k) {
      return isFloat(types[i]) && readsZeroSign(node, k)
                 ? withOpenZeros(graph, node.inputs[k], *operands[k])
                 : std::nullopt;
    });
  }

  /// A difference that exp reads. Kernels for GPUs round its product with log2(e), which is as if
  /// the difference had been rounded, even where it is exact.
  bool isExponent(size_t number) const {
    return graph.nodes[number].op == "sub" &&
           std::any_of(graph.nodes.begin(), graph.nodes.end(), [&](const Node &reader) {
             return reader.op == "exp" && reader.inputs[0] == static_cast<int>(number);
           });
  }

  /// As they are: nothing is computed of them.
  std::vector<const BoundedTensor *> movedOperands(const Node &node) const {
    std::vector<const BoundedTensor *> list;
    for (int input : node.inputs) {
      list.push_back(at[static_cast<size_t>(input)]);
    }
    return list;
  }

  std::vector<bool> absentOperands(const Node &node) const {
    std::vector<bool> isAbsent;
    for (int input : node.inputs) {
      isAbsent.push_back(graph.nodes[static_cast<size_t>(input)].attributes.contains("default"));
    }
    return isAbsent;
  }

  /// Of integers: nothing is rounded, and nothing leaves a range that wraps.
  Rule exactRule(const Node &node, const Operation &operation) const {
    Rule rule = makeRule(node, operation, model);
    rule.argumentLoss = rule.roundings = rule.flushed = 0;
    rule.storageUnit = rule.storageTiny = rule.tiny = rule.unit = 0;
    rule.largest = std::numeric_limits<double>::infinity();
    return rule;
  }

  /// A number as a kernel has it that computes in float32: 0.9 lies between two of them. What
  /// float32 has no number for (1e300) stays as it is.
  static BoundedTensor asFloats(const BoundedTensor &numbers) {
    BoundedTensor out;
    out.sizes = numbers.sizes;
    out.elements = numbers.elements;
    for (Bounded &each : out.elements) {
      const double away =
          std::fabs(static_cast<double>(static_cast<float>(each.value)) - each.value);
      each.error += std::isfinite(away) ? away : 0;
    }
    return out;
  }

  /// A number among bools: true unless it is 0.
  static BoundedTensor asTruth(const BoundedTensor &numbers) {
    BoundedTensor out;
    out.sizes = numbers.sizes;
    for (const Bounded &each : numbers.elements) {
      out.elements.push_back({each.value != 0 ? 1.0 : 0.0, 0});
    }
    return out;
  }

  /// Nothing is rounded: what a sum of integers may be off comes from its terms.
  static void dropRoundings(bool mayBeOff, BoundedTensor &out) {
    for (Bounded &each : out.elements) {
      each.error = mayBeOff ? std::ceil(each.error) : 0;
    }
  }
  static bool anyError(const BoundedTensor &in) {
    return !in.isExact && std::any_of(in.elements.begin(), in.elements.end(),
                                      [](const Bounded &each) { return each.error != 0; });
  }

  std::vector<BoundedTensor> outputs() const {
    std::vector<BoundedTensor> list;
    for (int output : graph.outputs) {
      const BoundedTensor &value = *at[static_cast<size_t>(output)];
      list.emplace_back();
      list.back().sizes = value.sizes;
      list.back().allocate(value.elements.size());
      std::copy(value.elements.begin(), value.elements.end(), list.back().elements.begin());
      list.back().integers = value.integers;
    }
    return list;
  }

  const definition::Operator &graph;
  const std::vector<DType> &types;
  std::span<const Tensor> inputs;
  std::span<const BoundedTensor *const> loaded;
  const ErrorModel &model;
  std::vector<BoundedTensor> values;
  std::vector<const BoundedTensor *> at;
  std::vector<double> highest; ///< of x - max(x), see ShiftedByMaximum.h; NaN: not known
};

} // namespace

Result<std::vector<BoundedTensor>> evaluateBounded(const definition::Operator &graph,
                                                   const std::vector<DType> &types,
                                                   std::span<const Tensor> inputs,
                                                   std::span<const BoundedTensor *const> loaded,
                                                   const ErrorModel &model) {
  return GraphEvaluator(graph, types, inputs, loaded, model).run();
}

} // namespace nereid::eager
