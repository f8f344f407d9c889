// SPDX-License-Identifier: Apache-2.0
#include "lib/eager/reference/rules/IntegerRules.h"

#include "lib/definition/Tolerance.h"
#include "lib/definition/operations/Shape.h"
#include "lib/eager/reference/ReferenceCast.h"
#include "lib/eager/reference/indices/RowRuns.h"

#include <algorithm>
#include <bit>
#include <cmath>
#include <limits>
#include <map>
#include <set>

namespace nereid::eager {
namespace {

using definition::Node;

double asDouble(uint64_t value, DType type) {
  return type == DType::U64 ? static_cast<double>(value)
                            : static_cast<double>(static_cast<int64_t>(value));
}

/// What a rule knows: the operands in the type of the operation, and which of them the body left
/// out.
struct IntegerCall {
  uint64_t in[4];
  bool isUnsigned;
  bool isAbsent[4];
  int64_t power; ///< of pow
  int bits;      ///< of the type

  bool less(uint64_t a, uint64_t b) const {
    return isUnsigned ? a < b : static_cast<int64_t>(a) < static_cast<int64_t>(b);
  }
  bool isNegative(uint64_t a) const { return less(a, 0); }
};

uint64_t clamped(const IntegerCall &call) {
  uint64_t x = call.in[0];
  x = !call.isAbsent[1] && call.less(x, call.in[1]) ? call.in[1] : x;
  return !call.isAbsent[2] && call.less(call.in[2], x) ? call.in[2] : x;
}

uint64_t hardened(const IntegerCall &call) {
  const uint64_t raised = call.less(call.in[0], call.in[1]) ? call.in[1] : call.in[0];
  return call.less(call.in[2], raised) ? call.in[2] : raised;
}

uint64_t power(const IntegerCall &call) {
  uint64_t result = 1;
  for (int64_t i = 0; i < call.power; ++i) {
    result *= call.in[0];
  }
  return result;
}

/// What is left of a division towards zero; of one by 0, a itself.
uint64_t rest(const IntegerCall &call) {
  const uint64_t a = call.in[0], b = call.in[1];
  if (b == 0 || call.isUnsigned) {
    return b == 0 ? a : a % b;
  }
  const bool isOne = static_cast<int64_t>(b) == -1; // the smallest number has no quotient by it
  return isOne ? 0 : static_cast<uint64_t>(static_cast<int64_t>(a) % static_cast<int64_t>(b));
}
bool isBetween(const IntegerCall &call) {
  return rest(call) != 0 && call.isNegative(call.in[0]) != call.isNegative(call.in[1]);
}
uint64_t floorQuotient(const IntegerCall &call) {
  const uint64_t a = call.in[0], b = call.in[1];
  if (b == 0 || call.isUnsigned) {
    return b == 0 ? 0 : a / b;
  }
  const bool isOne = static_cast<int64_t>(b) == -1;
  const uint64_t whole =
      isOne ? 0 - a : static_cast<uint64_t>(static_cast<int64_t>(a) / static_cast<int64_t>(b));
  return whole - (isBetween(call) ? 1 : 0);
}
/// Places outside of the type: nothing is left but the sign.
uint64_t shiftedLeft(const IntegerCall &call) {
  return call.in[1] < static_cast<uint64_t>(call.bits) ? call.in[0] << call.in[1] : 0;
}
uint64_t shiftedRight(const IntegerCall &call) {
  const bool isInside = call.in[1] < static_cast<uint64_t>(call.bits);
  if (call.isUnsigned) {
    return isInside ? call.in[0] >> call.in[1] : 0;
  }
  const uint64_t places = isInside ? call.in[1] : 63;
  return static_cast<uint64_t>(static_cast<int64_t>(call.in[0]) >> places);
}

/// Of n elements; in[k] are operand k's, one after another. What every element shares is `call`.
using IntegerRule = void (*)(const IntegerCall &call, const uint64_t *const *in, uint64_t *out,
                             size_t n);

/// `Element` computes one element, inside of the loop: a call for each would cost more than it.
template <class Element> IntegerRule alongRow(Element) {
  return [](const IntegerCall &call, const uint64_t *const *in, uint64_t *out, size_t n) {
    IntegerCall one = call;
    for (size_t i = 0; i < n; ++i) {
      one.in[0] = in[0][i];
      one.in[1] = in[1][i];
      one.in[2] = in[2][i];
      one.in[3] = in[3][i];
      out[i] = Element{}(one);
    }
  };
}
#define NEREID_INTEGER(EXPRESSION)                                                                 \
  alongRow([](const IntegerCall &call) -> uint64_t {                                               \
    [[maybe_unused]] const uint64_t a = call.in[0], b = call.in[1];                                \
    return EXPRESSION;                                                                             \
  })

const std::map<std::string, IntegerRule> &integerRules() {
  static const std::map<std::string, IntegerRule> rules = {
      {"neg", NEREID_INTEGER(uint64_t{0} - a)},
      {"abs", NEREID_INTEGER(call.isNegative(a) ? uint64_t{0} - a : a)},
      {"sign", NEREID_INTEGER(call.isNegative(a) ? ~uint64_t{0} : a != 0)},
      {"floor", NEREID_INTEGER(a)},
      {"ceil", NEREID_INTEGER(a)},
      {"round", NEREID_INTEGER(a)},
      {"trunc", NEREID_INTEGER(a)},
      {"square", NEREID_INTEGER(a * a)},
      {"sgn", NEREID_INTEGER(call.isNegative(a) ? ~uint64_t{0} : a != 0)},
      {"hardtanh", NEREID_INTEGER(hardened(call))},
      {"relu6", NEREID_INTEGER(call.isNegative(a) ? 0
                               : call.less(6, a)  ? 6
                                                  : a)},
      {"threshold", NEREID_INTEGER(call.less(b, a) ? a : call.in[2])},
      {"rsub", NEREID_INTEGER(b - a)},
      {"fmod", NEREID_INTEGER(rest(call))},
      {"remainder", NEREID_INTEGER(rest(call) + (isBetween(call) ? b : 0))},
      {"floor_divide", NEREID_INTEGER(floorQuotient(call))},
      {"fmax", NEREID_INTEGER(call.less(a, b) ? b : a)},
      {"fmin", NEREID_INTEGER(call.less(b, a) ? b : a)},
      {"heaviside", NEREID_INTEGER(a == 0 ? b : !call.isNegative(a))},
      {"addcmul", NEREID_INTEGER(a + call.in[3] * b * call.in[2])},
      {"bitwise_left_shift", NEREID_INTEGER(shiftedLeft(call))},
      {"bitwise_right_shift", NEREID_INTEGER(shiftedRight(call))},
      {"relu", NEREID_INTEGER(call.isNegative(a) ? 0 : a)},
      {"add", NEREID_INTEGER(a + b)},
      {"sub", NEREID_INTEGER(a - b)},
      {"mul", NEREID_INTEGER(a * b)},
      {"pow", NEREID_INTEGER(power(call))},
      {"maximum", NEREID_INTEGER(call.less(a, b) ? b : a)},
      {"minimum", NEREID_INTEGER(call.less(b, a) ? b : a)},
      {"clamp", NEREID_INTEGER(clamped(call))},
      {"bitwise_and", NEREID_INTEGER(a & b)},
      {"bitwise_or", NEREID_INTEGER(a | b)},
      {"bitwise_xor", NEREID_INTEGER(a ^ b)},
      {"bitwise_not", NEREID_INTEGER(~a)},
      {"where", NEREID_INTEGER(a != 0 ? b : call.in[2])},
      {"masked_fill", NEREID_INTEGER(b != 0 ? call.in[2] : a)},
      {"eq", NEREID_INTEGER(a == b)},
      {"ne", NEREID_INTEGER(a != b)},
      {"lt", NEREID_INTEGER(call.less(a, b))},
      {"le", NEREID_INTEGER(!call.less(b, a))},
      {"gt", NEREID_INTEGER(call.less(b, a))},
      {"ge", NEREID_INTEGER(!call.less(a, b))},
      {"logical_not", NEREID_INTEGER(a == 0)},
      {"logical_and", NEREID_INTEGER(a != 0 && b != 0)},
      {"logical_or", NEREID_INTEGER(a != 0 || b != 0)},
      {"logical_xor", NEREID_INTEGER((a != 0) != (b != 0))},
      {"isnan", NEREID_INTEGER(0)},
      {"isinf", NEREID_INTEGER(0)},
      {"isfinite", NEREID_INTEGER(1)},
  };
  return rules;
}

/// Which operand is a condition, and no number of the operation's type.
int conditionOf(const std::string &op) { return op == "where" ? 0 : op == "masked_fill" ? 1 : -1; }

/// Of masks, and of defaults: an infinite one is a bound that is left out.
uint64_t wholeOf(double value) {
  return std::isfinite(value) ? static_cast<uint64_t>(static_cast<int64_t>(value)) : 0;
}

uint64_t elementOf(const BoundedTensor &tensor, int64_t i) {
  const auto at = static_cast<size_t>(i);
  return tensor.integers.empty() ? wholeOf(tensor.elements[at].value) : tensor.integers[at];
}

/// What wrapped() asks of the type, once for all elements.
struct Wrapping {
  int unused;
  bool isSigned;

  explicit Wrapping(DType type)
      : unused(64 - 8 * static_cast<int>(sizeInBytes(type))), isSigned(isSignedInteger(type)) {}
  uint64_t operator()(uint64_t value) const {
    return isSigned ? static_cast<uint64_t>(static_cast<int64_t>(value << unused) >> unused)
                    : (value << unused) >> unused;
  }
  void all(uint64_t *values, size_t n) const {
    for (size_t i = 0; unused > 0 && isSigned && i < n; ++i) {
      values[i] = static_cast<uint64_t>(static_cast<int64_t>(values[i] << unused) >> unused);
    }
    for (size_t i = 0; unused > 0 && !isSigned && i < n; ++i) {
      values[i] = (values[i] << unused) >> unused;
    }
  }
};

/// n values of a tensor, one after another, in the type of the operation where `wrap` is given:
/// where they are, or in `row`.
const uint64_t *loadRow(const BoundedTensor &tensor, int64_t offset, int64_t step,
                        const Wrapping *wrap, uint64_t *row, size_t n) {
  if (!tensor.integers.empty() && step == 1 && (!wrap || wrap->unused == 0)) {
    return tensor.integers.data() + offset;
  }
  const size_t different = step == 0 ? std::min<size_t>(n, 1) : n;
  if (tensor.integers.empty()) {
    const Bounded *elements = tensor.elements.data() + offset;
    for (size_t i = 0; i < different; ++i) {
      row[i] = wholeOf(elements[static_cast<int64_t>(i) * step].value);
    }
  } else {
    const uint64_t *integers = tensor.integers.data() + offset;
    for (size_t i = 0; i < different; ++i) {
      row[i] = integers[static_cast<int64_t>(i) * step];
    }
  }
  if (wrap) {
    wrap->all(row, different);
  }
  if (different < n) {
    std::fill(row + different, row + n, row[0]);
  }
  return row;
}

/// The numbers that are nearest to integers of the type, where none is off.
void storeNumbers(const uint64_t *integers, size_t n, DType type, Bounded *elements) {
  if (type == DType::U64) {
    for (size_t i = 0; i < n; ++i) {
      elements[i] = {static_cast<double>(integers[i]), 0};
    }
    return;
  }
  for (size_t i = 0; i < n; ++i) {
    elements[i] = {static_cast<double>(static_cast<int64_t>(integers[i])), 0};
  }
}

/// How far a result of single bits may be off: in all bits in which an operand's ends differ, and
/// below these.
double bitsOff(const std::vector<const BoundedTensor *> &operands, const int64_t *offsets,
               double otherwise) {
  uint64_t open = 0;
  for (size_t k = 0; k < operands.size(); ++k) {
    const Bounded &element = operands[k]->elements[static_cast<size_t>(offsets[k])];
    if (std::isinf(element.error)) {
      return otherwise;
    }
    const auto off = static_cast<uint64_t>(std::ceil(element.error));
    const uint64_t value = elementOf(*operands[k], offsets[k]);
    const uint64_t differing = (value - off) ^ (value + off);
    open |= differing == 0 ? 0 : ~uint64_t{0} >> std::countl_zero(differing);
  }
  return static_cast<double>(open);
}

} // namespace

uint64_t wrapped(uint64_t value, DType type) { return Wrapping(type)(value); }

uint64_t stepsApart(uint64_t a, uint64_t b, DType type) {
  const int unused = Wrapping(type).unused;
  return std::min(((a - b) << unused) >> unused, ((b - a) << unused) >> unused);
}

bool isOpen(const Bounded &value, DType type) {
  return value.error >= std::ldexp(1.0, 8 * static_cast<int>(sizeInBytes(type)) - 1);
}

bool keepsWrapping(const Node &node, size_t k, DType from, DType to) {
  static const std::set<std::string> sums = {"add", "sub", "mul", "neg", "square", "rsub", "sum"};
  const definition::Operation &operation = *definition::findOperation(node.op);
  if (isFloat(to) || to == DType::Bool || sizeInBytes(to) > sizeInBytes(from)) {
    return false;
  }
  return sums.contains(node.op) || (node.op == "where" && k > 0) ||
         (node.op == "masked_fill" && k != 1) || operation.result == definition::ResultType::Cast ||
         operation.kind == definition::OperationKind::Contraction ||
         operation.kind == definition::OperationKind::View;
}

bool maySpanEnds(const Node &node, const BoundedTensor &results, DType type) {
  static const std::set<std::string> falling = {"sub", "rsub", "neg"};
  static const std::set<std::string> rising = {"add", "mul", "square", "pow"};
  const bool falls = falling.contains(node.op);
  if (!falls && !rising.contains(node.op)) {
    return false;
  }
  const bool isAbove = isUnsignedInteger(type) && !falls;
  return std::any_of(results.elements.begin(), results.elements.end(), [&](const Bounded &each) {
    const double low = each.value - each.error;
    return each.error > 0 && !(isWithin(isAbove ? std::max(0.0, low) : low, type) &&
                               isWithin(each.value + each.error, type));
  });
}

std::optional<BoundedTensor> withOpenEnds(const BoundedTensor &in, DType type) {
  const auto leaves = [&](const Bounded &each) {
    return each.error > 0 &&
           !(isWithin(each.value - each.error, type) && isWithin(each.value + each.error, type));
  };
  if (!in.mayWrap || std::none_of(in.elements.begin(), in.elements.end(), leaves)) {
    return std::nullopt;
  }
  BoundedTensor out;
  out.sizes = in.sizes;
  out.elements = in.elements;
  out.integers = in.integers;
  for (Bounded &each : out.elements) {
    each.error = leaves(each) ? std::numeric_limits<double>::infinity() : each.error;
  }
  return out;
}

void pointwiseIntegers(const Node &node, DType computed,
                       const std::vector<const BoundedTensor *> &operands,
                       const std::vector<bool> &isAbsent, bool isExact, BoundedTensor &out) {
  const IntegerRule rule = integerRules().at(node.op);
  const bool isTruth = definition::findOperation(node.op)->result == definition::ResultType::Bool;
  const int condition = conditionOf(node.op);
  std::vector<std::vector<int64_t>> steps;
  for (const BoundedTensor *operand : operands) {
    steps.push_back(definition::broadcastSteps(operand->sizes, out.sizes));
  }
  // Where no operand is off, no bit of the result is.
  const bool isOfBits = !isExact && (node.op == "bitwise_and" || node.op == "bitwise_or" ||
                                     node.op == "bitwise_xor" || node.op == "bitwise_not");
  IntegerCall call{};
  call.isUnsigned = isUnsignedInteger(computed);
  call.bits = 8 * static_cast<int>(sizeInBytes(computed));
  call.power = node.op == "pow" ? static_cast<int64_t>(elementOf(*operands[1], 0)) : 0;
  std::copy(isAbsent.begin(), isAbsent.end(), call.isAbsent);
  if (!isTruth) {
    out.allocateIntegers(out.elements.size());
  }
  const Wrapping wrap(computed);
  const RowRuns rows(out.sizes, steps);
  constexpr size_t most = 256;
  static constexpr uint64_t absent[most] = {};
  uint64_t values[4][most], truths[most]; // not cleared: of a few elements that would take longer
  const uint64_t *in[4] = {absent, absent, absent, absent};
  const auto run = static_cast<size_t>(rows.length);
  for (size_t first = 0; first < out.elements.size();) {
    const size_t inRow = first % run, n = std::min(most, run - inRow);
    int64_t offsets[4] = {};
    for (size_t k = 0; k < operands.size(); ++k) {
      offsets[k] = rows.offset(static_cast<int64_t>(first / run), k) +
                   static_cast<int64_t>(inRow) * rows.inner[k];
      const bool isCondition = static_cast<int>(k) == condition;
      in[k] = loadRow(*operands[k], offsets[k], rows.inner[k], isCondition ? nullptr : &wrap,
                      values[k], n);
    }
    uint64_t *const results = isTruth ? truths : out.integers.data() + first;
    rule(call, in, results, n);
    if (!isTruth) {
      wrap.all(results, n);
    }
    for (size_t i = 0; isOfBits && i < n; ++i) {
      double &error = out.elements[first + i].error;
      error = bitsOff(operands, offsets, error);
      for (size_t k = 0; k < operands.size(); ++k) {
        offsets[k] += rows.inner[k];
      }
    }
    Bounded *elements = out.elements.data() + first;
    Bounded numbers[most];
    storeNumbers(results, n, computed, isExact ? elements : numbers);
    for (size_t i = 0; !isExact && i < n; ++i) {
      elements[i].value = numbers[i].value;
    }
    first += n;
  }
}

void reduceIntegers(const Node &node, DType result, const BoundedTensor &in, BoundedTensor &out) {
  const std::vector<int64_t> dims = definition::dimsOf(node);
  const auto rank = static_cast<int64_t>(in.sizes.size());
  std::vector<int64_t> kept;
  for (int64_t d = 0; d < rank; ++d) {
    bool isReduced = dims.empty() || std::find(dims.begin(), dims.end(), d - rank) != dims.end();
    kept.push_back(isReduced ? 1 : in.sizes[static_cast<size_t>(d)]);
  }
  const std::vector<int64_t> steps = definition::broadcastSteps(kept, in.sizes);
  const bool isExtremum = node.op == "amax" || node.op == "amin";
  IntegerCall call{};
  call.isUnsigned = isUnsignedInteger(result);
  std::vector<bool> isBegun(out.elements.size(), !isExtremum);
  out.integers.assign(out.elements.size(), node.op == "prod" ? 1 : 0);
  for (size_t i = 0; i < in.elements.size(); ++i) {
    auto rest = static_cast<int64_t>(i);
    int64_t group = 0;
    for (size_t d = in.sizes.size(); d-- > 0; rest /= in.sizes[d]) {
      group += rest % in.sizes[d] * steps[d];
    }
    const auto at = static_cast<size_t>(group);
    const uint64_t value = elementOf(in, static_cast<int64_t>(i));
    uint64_t &total = out.integers[at];
    if (isExtremum) {
      bool isBetter = node.op == "amax" ? call.less(total, value) : call.less(value, total);
      total = !isBegun[at] || isBetter ? value : total;
      isBegun[at] = true;
    } else {
      total = node.op == "prod" ? total * value : total + value;
    }
  }
  for (size_t i = 0; i < out.elements.size(); ++i) {
    out.integers[i] = wrapped(out.integers[i], result);
    out.elements[i].value = asDouble(out.integers[i], result);
  }
}

BoundedTensor asNumbers(const BoundedTensor &integers, DType computed, const ErrorModel &model) {
  BoundedTensor out;
  out.sizes = integers.sizes;
  out.allocate(integers.elements.size());
  const double unit =
      std::max(definition::unitRoundoff(model.compute), definition::unitRoundoff(computed));
  const double exact = 1 / unit, largest = definition::largestFinite(computed);
  for (size_t i = 0; i < out.elements.size(); ++i) {
    const Bounded &from = integers.elements[i];
    const double magnitude = std::fabs(from.value);
    const double rounding = magnitude <= exact ? 0 : unit * magnitude;
    out.elements[i] = {from.value, magnitude + rounding <= largest
                                       ? from.error + rounding
                                       : std::numeric_limits<double>::infinity()};
  }
  return out;
}

} // namespace nereid::eager
