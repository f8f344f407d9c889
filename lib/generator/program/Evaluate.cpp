// SPDX-License-Identifier: Apache-2.0
// Programs point by point, see Evaluate.h.
#include "lib/generator/program/Evaluate.h"

#include "lib/generator/program/Monoids.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <numeric>

namespace nereid::generator {
namespace {

using Tuple = std::vector<double>;

/// Thrown inside of this file alone.
struct Fault {
  std::string message;
};

uint32_t philox(uint64_t key, uint64_t counter) {
  uint32_t x[4] = {uint32_t(counter), uint32_t(counter >> 32), 0, 0};
  uint32_t k[2] = {uint32_t(key), uint32_t(key >> 32)};
  for (int round = 0; round < 10; ++round) {
    uint64_t a = uint64_t(0xD2511F53) * x[0], b = uint64_t(0xCD9E8D57) * x[2];
    uint32_t next[4] = {uint32_t(b >> 32) ^ x[1] ^ k[0], uint32_t(b),
                        uint32_t(a >> 32) ^ x[3] ^ k[1], uint32_t(a)};
    std::copy(next, next + 4, x);
    k[0] += 0x9E3779B9;
    k[1] += 0xBB67AE85;
  }
  return x[0];
}

/// NaN stays, whichever comes first.
bool isBetter(double a, double b, bool isLarger) {
  return std::isnan(b) ? false : std::isnan(a) || (isLarger ? a > b : a < b);
}

/// The combination of two elements of a monoid; a is the one of the smaller indices.
Tuple combine(const std::string &monoid, const Tuple &a, const Tuple &b) {
  if (monoid == "sum" || monoid == "prod") {
    return {monoid == "sum" ? a[0] + b[0] : a[0] * b[0]};
  }
  if (monoid == "max" || monoid == "min") {
    return {isBetter(b[0], a[0], monoid == "max") ? b[0] : a[0]};
  }
  if (monoid == "argmax" || monoid == "argmin") {
    bool isSame = a[0] == b[0] || (std::isnan(a[0]) && std::isnan(b[0]));
    return isSame ? (a[1] <= b[1] ? a : b) : isBetter(b[0], a[0], monoid == "argmax") ? b : a;
  }
  if (monoid == "cummax" || monoid == "cummin") { // b stands behind a
    const bool isKept = std::isnan(a[0]) || (monoid == "cummax" ? a[0] > b[0] : a[0] < b[0]);
    return std::isnan(b[0]) || !isKept ? b : a;
  }
  if (monoid == "any" || monoid == "all") {
    bool x = a[0] != 0, y = b[0] != 0;
    return {double(monoid == "any" ? x || y : x && y)};
  }
  if (monoid == "xor") {
    return {double(static_cast<int64_t>(a[0]) ^ static_cast<int64_t>(b[0]))};
  }
  if (monoid == "welford") {
    const double count = a[0] + b[0];
    const double mean = count == 0 ? 0 : a[1] + (b[1] - a[1]) * b[0] / count;
    Tuple joint = {count, mean, 0, 0};
    for (const Tuple &each : {a, b}) { // moved to the common mean
      const double by = each[1] - mean;
      joint[2] += each[2] + each[0] * by;
      joint[3] += each[3] + by * (2 * each[2] + each[0] * by);
    }
    return joint;
  }
  const double most = std::max(a[0], b[0]), finite = std::isinf(most) ? 0 : most;
  return {most, a[1] * std::exp(a[0] - finite) + b[1] * std::exp(b[0] - finite)};
}

class Evaluator {
public:
  Evaluator(const Program &program, EvaluationInput input)
      : program(program), parameters(std::move(input.parameters)), memory(std::move(input.memory)),
        point(program.space.iterators.all().size(), 0) {
    auto bound = program.space.symbols.bind(input.sizes);
    if (!bound) {
      throw Fault{"the sizes break a range, a multiple or a fact"};
    }
    symbols = *bound;
  }

  std::map<std::string, std::vector<double>> run() {
    for (const Buffer &buffer : program.buffers) {
      prepare(buffer);
    }
    for (const Stage &stage : program.stages) {
      run(stage);
    }
    return std::move(memory);
  }

private:
  int64_t number(const Polynomial &value) const {
    std::optional<int64_t> result = value.evaluate(symbols);
    if (!result) {
      throw Fault{"a size needs more than 63 bits"};
    }
    return *result;
  }
  int64_t extent(IteratorId iterator) const {
    return number(program.space.iterators[iterator].extent);
  }

  void prepare(const Buffer &buffer) {
    if (buffer.base) {
      return;
    }
    int64_t last = 0;
    for (size_t dim = 0; dim < buffer.sizes.size(); ++dim) {
      last += (number(buffer.sizes[dim]) - 1) * number(buffer.strides[dim]);
    }
    std::vector<double> &elements = memory[buffer.name];
    bool isMade = buffer.role == BufferRole::Output || buffer.role == BufferRole::Temporary;
    if (isMade && elements.empty()) {
      elements.assign(static_cast<size_t>(std::max<int64_t>(last + 1, 0)), std::nan(""));
    }
    if (static_cast<int64_t>(elements.size()) < last + 1) {
      throw Fault{fmt::format("'{}' has {} elements, but needs {}", buffer.name, elements.size(),
                              last + 1)};
    }
  }

  /// Calls `visit` with `point` at every combination of values.
  template <class Visit>
  void forEach(const std::vector<IteratorId> &iterators, size_t depth, const Visit &visit) {
    if (depth == iterators.size()) {
      visit();
      return;
    }
    int64_t &at = point[iterators[depth]];
    const int64_t outer = at, end = extent(iterators[depth]);
    for (int64_t i = 0; i < end; ++i) {
      at = i;
      forEach(iterators, depth + 1, visit);
    }
    at = outer;
  }

  void run(const Stage &stage) {
    known.clear();
    // A stage reads before it writes, also where it stores in place.
    struct Write {
      const Store *store;
      double *element;
      double value;
    };
    std::vector<Write> writes;
    for (const Store &store : stage.stores) {
      std::set<IteratorId> all = program.iteratorsOf(store);
      forEach({all.begin(), all.end()}, 0, [&] {
        if (!store.guard || value(store.guard) != 0) {
          double result = value(store.value);
          writes.push_back({&store, &element(store.buffer, store.index), result});
        }
      });
    }
    for (const Write &write : writes) {
      const std::string &monoid = write.store->monoid;
      *write.element =
          monoid.empty() ? write.value : combine(monoid, {*write.element}, {write.value})[0];
    }
  }

  int64_t index(const Affine &affine) {
    int64_t result = number(affine.constant());
    for (const auto &[atom, coefficient] : affine.terms()) {
      result += number(coefficient) * index(atom);
    }
    return result;
  }
  int64_t index(const Atom &atom) {
    if (atom.kind == Atom::Kind::Iterator) {
      return point[atom.iterator];
    }
    const int64_t size = number(atom.size);
    if (atom.kind == Atom::Kind::Data) {
      auto result = static_cast<int64_t>(value(atom.node));
      if (result < 0 || result >= size) {
        throw Fault{fmt::format("an index is {}, but was promised in [0, {})", result, size)};
      }
      return result;
    }
    const int64_t argument = index(*atom.argument);
    if (argument < 0 || size < 1) {
      throw Fault{fmt::format("{} is divided by {}", argument, size)};
    }
    return atom.kind == Atom::Kind::Quotient ? argument / size : argument % size;
  }

  double &element(BufferId id, const std::vector<Affine> &indices) {
    const Buffer &buffer = program.buffers[id];
    int64_t offset = number(buffer.offset);
    for (size_t dim = 0; dim < indices.size(); ++dim) {
      const int64_t at = index(indices[dim]), size = number(buffer.sizes[dim]);
      if (at < 0 || at >= size) {
        throw Fault{
            fmt::format("index {} of '{}' is {}, but its size is {}", dim, buffer.name, at, size)};
      }
      offset += at * number(buffer.strides[dim]);
    }
    std::vector<double> &elements = memory.at(program.buffers[program.baseOf(id)].name);
    if (offset < 0 || offset >= static_cast<int64_t>(elements.size())) {
      throw Fault{fmt::format("offset {} leaves '{}'", offset, buffer.name)};
    }
    return elements[static_cast<size_t>(offset)];
  }

  double value(const Node *node) { return tuple(node)[0]; }

  const Tuple &tuple(const Node *node) {
    std::pair<const Node *, std::vector<int64_t>> key(node, {});
    for (IteratorId iterator : node->free) {
      key.second.push_back(point[iterator]);
    }
    if (auto found = known.find(key); found != known.end()) {
      return found->second;
    }
    Tuple result = compute(*node);
    return known[std::move(key)] = std::move(result);
  }

  Tuple inputs(const Node &node) {
    Tuple result;
    for (const Node *input : node.inputs) {
      result.push_back(value(input));
    }
    return result;
  }

  double parameter(const std::string &name) const {
    auto found = parameters.find(name);
    if (found == parameters.end()) {
      throw Fault{fmt::format("parameter '{}' has no value", name)};
    }
    return found->second;
  }

  Tuple compute(const Node &node) {
    switch (node.kind) {
    case NodeKind::Const:
      return {isFloat(node.dtype) ? node.real : static_cast<double>(node.integer)};
    case NodeKind::Param:
      return {parameter(node.name)};
    case NodeKind::Index:
      return {static_cast<double>(index(node.indices[0]))};
    case NodeKind::Load:
    case NodeKind::Ref:
      return {element(node.buffer, node.indices)};
    case NodeKind::Map:
      return map(node);
    case NodeKind::Reduce:
      return reduce(node);
    case NodeKind::Scan:
      return scan(node);
    case NodeKind::Order:
      return order(node);
    case NodeKind::Pick:
      return pick(node);
    case NodeKind::Random:
      return {static_cast<double>(philox(static_cast<uint64_t>(value(node.inputs[0])),
                                         static_cast<uint64_t>(index(node.indices[0]))))};
    }
    return {};
  }

  Tuple map(const Node &node) {
    if (node.name == "where") { // reads only what it chooses
      return {value(node.inputs[value(node.inputs[0]) != 0 ? 1 : 2])};
    }
    if (std::optional<double> result = evaluateMap(node, inputs(node))) {
      return {*result};
    }
    throw Fault{fmt::format("'{}' is no primitive operation", node.name)};
  }

  static const Monoid &monoidOf(const Node &node) {
    const Monoid *monoid = findMonoid(node.name);
    if (!monoid) {
      throw Fault{fmt::format("'{}' is no monoid", node.name)};
    }
    return *monoid;
  }

  Tuple reduce(const Node &node) {
    Tuple result = monoidOf(node).identity;
    forEach(node.iterators, 0, [&] { result = combine(node.name, result, inputs(node)); });
    return result;
  }

  Tuple scan(const Node &node) {
    Tuple result = monoidOf(node).identity;
    const int64_t at = index(node.indices[0]);
    int64_t &i = point[node.iterators[0]];
    const int64_t outer = i, end = extent(node.iterators[0]);
    for (int64_t step = 0; step < end; ++step) {
      i = node.isReverse ? end - 1 - step : step;
      if (i == at && node.isExclusive) {
        break;
      }
      Tuple next = inputs(node);
      result = node.isReverse ? combine(node.name, next, result) : combine(node.name, result, next);
      if (i == at) {
        break;
      }
    }
    i = outer;
    return result;
  }

  /// The positions of the line, sorted; NaN is larger than everything.
  Tuple order(const Node &node) {
    Tuple keys;
    forEach(node.iterators, 0, [&] { keys.push_back(value(node.inputs[0])); });
    std::vector<size_t> positions(keys.size());
    std::iota(positions.begin(), positions.end(), size_t{0});
    auto less = [](double a, double b) {
      return std::isnan(a) || std::isnan(b) ? !std::isnan(a) && std::isnan(b) : a < b;
    };
    std::sort(positions.begin(), positions.end(), [&](size_t a, size_t b) {
      bool isBefore = less(keys[a], keys[b]), isAfter = less(keys[b], keys[a]);
      return isBefore == isAfter ? a < b : node.isDescending ? isAfter : isBefore;
    });
    return {positions.begin(), positions.end()};
  }

  Tuple pick(const Node &node) {
    const Node *from = node.inputs[0];
    const Tuple &parts = tuple(from);
    if (from->kind != NodeKind::Order) {
      return {parts[node.component]};
    }
    const int64_t at = index(node.indices[0]);
    if (at < 0 || at >= static_cast<int64_t>(parts.size())) {
      throw Fault{fmt::format("position {} of a line of {}", at, parts.size())};
    }
    const double position = parts[static_cast<size_t>(at)];
    if (node.component == 1) {
      return {position};
    }
    int64_t &i = point[from->iterators[0]];
    const int64_t outer = i;
    i = static_cast<int64_t>(position);
    double result = value(from->inputs[0]);
    i = outer;
    return {result};
  }

  const Program &program;
  std::map<std::string, double> parameters;
  std::map<std::string, std::vector<double>> memory;
  std::vector<int64_t> symbols, point;
  std::map<std::pair<const Node *, std::vector<int64_t>>, Tuple> known;
};

} // namespace

Result<std::map<std::string, std::vector<double>>> evaluate(const Program &program,
                                                            EvaluationInput input) {
  try {
    return Evaluator(program, std::move(input)).run();
  } catch (const Fault &fault) {
    return makeError("E0619", fault.message);
  }
}

} // namespace nereid::generator
