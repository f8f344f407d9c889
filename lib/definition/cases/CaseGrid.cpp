// SPDX-License-Identifier: Apache-2.0
// Sizes are chosen to leave remainders of every vector width and block; data and layout kinds vary
// on one middle size, so that the grid stays quick.
#include "lib/definition/cases/CaseGrid.h"

#include "lib/definition/cases/ComputedData.h"
#include "lib/definition/cases/IndexData.h"
#include "lib/definition/cases/OtherNumbers.h"
#include "lib/definition/operations/Shape.h"
#include "runtime/elements/IntegerElements.h"

#include <fmt/format.h>

#include <algorithm>
#include <functional>
#include <random>
#include <set>

namespace nereid::definition {
namespace {

using runtime::Tensor;

constexpr double mostBytesOfCase = 8 << 20;    ///< of all tensors of a case, in float32
constexpr size_t mostGrowing = 4;              ///< symbols that get a size of their own
constexpr int64_t mostDrawnElements = 1 << 16; ///< of each tensor, roughly
constexpr int64_t oddSizes[] = {1, 3, 17, 127, 129, 1000};

std::string sizesName(const Operator &op, const Binding &binding) {
  const Node &output = op.nodes[static_cast<size_t>(op.outputs[0])];
  Result<std::vector<int64_t>> sizes = bind(output.shape, binding);
  return sizes && !sizes->empty() ? fmt::format("{}", fmt::join(*sizes, "x")) : "scalar";
}

/// All symbols small, the last one `last`. They differ, 2, 3, 4 and so on, unless there are so many
/// that their product would explode. Without symbols the last of the leading dimensions is `last`.
Binding small(const Operator &op, std::vector<int64_t> rest, int64_t last) {
  Binding binding;
  binding.rest = std::move(rest);
  std::vector<std::string> symbols = symbolsOf(op);
  std::erase(symbols, "...");
  for (size_t i = 0; i < symbols.size(); ++i) {
    const bool isCut = symbols.size() > mostGrowing;
    binding.symbols[symbols[i]] = 2 + static_cast<int64_t>(isCut ? i == 1 : i);
  }
  if (!symbols.empty()) {
    binding.symbols[symbols.back()] = last;
  } else {
    binding.rest.push_back(last);
  }
  return binding;
}

bool hasRest(const Operator &op) {
  std::vector<std::string> symbols = symbolsOf(op);
  return std::find(symbols.begin(), symbols.end(), "...") != symbols.end();
}

/// Empty in a leading dimension, so that no reduction runs over nothing.
Binding emptyBinding(const Operator &op) {
  Binding binding = small(op, {0}, 5);
  if (!hasRest(op)) {
    for (const std::string &symbol : symbolsOf(op)) {
      binding.symbols[symbol] = 0;
      break;
    }
  }
  return binding;
}

bool isEmpty(const Operator &op, const Binding &binding) {
  return std::any_of(binding.symbols.begin(), binding.symbols.end(),
                     [](const auto &entry) { return entry.second == 0; }) ||
         (hasRest(op) &&
          std::find(binding.rest.begin(), binding.rest.end(), 0) != binding.rest.end());
}

/// An integer input of an operator on floats stays small: its largest numbers would leave the range
/// of 16 bits.
bool isBesideFloats(DType own, DType dtype) { return isFloat(dtype) && !isFloat(own); }

bool isFar(DataKind kind) {
  return kind == DataKind::Scaled || kind == DataKind::Decades || kind == DataKind::Special ||
         kind == DataKind::SortedRows || kind == DataKind::Cancelling;
}

} // namespace

std::string_view name(LayoutKind kind) {
  switch (kind) {
  case LayoutKind::Contiguous:
    return "contiguous";
  case LayoutKind::OuterStride:
    return "outer stride";
  case LayoutKind::Unaligned:
    return "unaligned";
  }
  return "";
}

namespace {

/// Collects the cases of a grid.
class GridWriter {
public:
  GridWriter(const Operator &op, DType dtype, double mostBytes = mostBytesOfCase)
      : op(op), dtype(dtype), mostBytes(mostBytes) {}

  void add(const std::string &what, Binding binding, const Data &data = {},
           LayoutKind layout = LayoutKind::Contiguous, int dataOf = -1,
           std::vector<double> numbers = {}) {
    binding = bounded(std::move(binding));
    GridCase one;
    std::optional<Binding> fit = fulfilled(op, binding);
    if (!fit || isEmpty(op, *fit) != isEmpty(op, binding)) {
      one.unmet = "no sizes near these meet the constraints: " +
                  checkConstraints(op, binding, std::nullopt).error().message;
    } else {
      binding = std::move(*fit);
    }
    one.name = what + " " + sizesName(op, binding);
    if (data.kind != DataKind::Normal) {
      one.name += ", " + name(data, dtype);
    }
    if (dataOf >= 0) {
      one.name += fmt::format(" in '{}'", op.parameters[static_cast<size_t>(dataOf)].name);
    }
    if (layout != LayoutKind::Contiguous) {
      one.name += fmt::format(", {}", name(layout));
    }
    for (size_t i = 0; i < numbers.size(); ++i) {
      const Parameter &parameter = op.parameters[i];
      one.name += parameter.isScalar && !parameter.isSize()
                      ? fmt::format(", {} = {:g}", parameter.name, numbers[i])
                      : "";
    }
    giveSizes(op, binding, numbers);
    one.numbers = std::move(numbers);
    one.binding = std::move(binding);
    one.data = data;
    one.dataOf = dataOf;
    one.layout = layout;
    one.seed = 1000 + grid.size();
    // Constraints may lead different sizes to the same ones.
    if (taken.insert(one.name).second) {
      grid.push_back(std::move(one));
    }
  }

  /// The same with its largest sizes halved until all tensors fit into `mostBytes`.
  Binding bounded(Binding binding) const {
    while (tensorBytes(op, binding, DType::F32) > mostBytes) {
      int64_t *largest = nullptr;
      auto take = [&](int64_t &size) { largest = !largest || size > *largest ? &size : largest; };
      for (auto &[symbol, size] : binding.symbols) {
        take(size);
      }
      std::for_each(binding.rest.begin(), binding.rest.end(), take);
      if (!largest || *largest < 2) {
        break;
      }
      *largest = (*largest + 1) / 2;
    }
    return binding;
  }

  void addSizes() {
    Binding one = small(op, {}, 1);
    one.rest.clear();
    for (auto &[symbol, size] : one.symbols) {
      size = 1;
    }
    add("one element", one);
    add("empty", emptyBinding(op));
    for (int64_t size : oddSizes) {
      add("odd", small(op, {3}, size));
    }
    if (hasRest(op)) {
      add("no leading dimensions", small(op, {}, 257));
      add("many leading dimensions", small(op, {2, 1, 3, 2}, 33));
    }
    add("larger", small(op, {61}, 4099));
  }

  void addValues() {
    const Binding middle = small(op, {5}, 129);
    for (const Data &data :
         {Data{DataKind::Scaled, 1}, Data{DataKind::Scaled, -0.84}, Data{DataKind::Decades, 1},
          Data{DataKind::Negative}, Data{DataKind::Zeros}, Data{DataKind::Ones},
          Data{DataKind::ConstantRows}, Data{DataKind::SortedRows},
          Data{DataKind::Cancelling, 1}}) {
      add("values", middle, data);
    }
    // One input at a time: two that are not finite hide each other.
    for (int parameter : tensorParameters()) {
      const Binding binding = small(op, {2, 4}, 64);
      const int turns = rowsOf(parameter, binding) < specialTurns ? turnsOfFewRows : 1;
      for (int turn = 0; turn < turns; ++turn) {
        add(turn == 0 ? "values" : fmt::format("values {}", turn + 1), binding,
            {DataKind::Special, 0, nanFirst + turn}, LayoutKind::Contiguous, parameter);
      }
    }
    add("larger", small(op, {17}, 4099), {DataKind::Special}, LayoutKind::Contiguous,
        tensorParameters().empty() ? -1 : tensorParameters().front());
  }

  void addLayouts() {
    // What stands in front of the first row differs from the other cases with such numbers.
    for (auto [layout, turn] :
         {std::pair(LayoutKind::OuterStride, 1), std::pair(LayoutKind::Unaligned, 3)}) {
      add("layout", small(op, {5}, 129), {}, layout);
      add("layout", small(op, {2, 3}, 64), {DataKind::Special, 0, turn}, layout);
    }
  }

  void addNumbers() {
    for (int turn = 0; turn < otherNumbersTurns; ++turn) {
      const Binding middle = small(op, {5}, 129);
      const Binding fit = fulfilled(op, bounded(middle)).value_or(middle);
      if (std::vector<double> numbers = otherNumbers(op, fit, turn); !numbers.empty()) {
        add("numbers", middle, {}, LayoutKind::Contiguous, -1, std::move(numbers));
      }
    }
  }

  void addDrawn(uint64_t seed, int count) {
    std::mt19937_64 random(seed);
    auto below = [&](int64_t limit) {
      return static_cast<int64_t>(random() % static_cast<uint64_t>(limit));
    };
    for (int i = 0; i < count; ++i) {
      Binding binding = drawnBinding(below);
      const auto layout = static_cast<LayoutKind>(below(layoutKindCount));
      // Every second one takes a magnitude; a definition's own kinds follow in turn.
      Data data{i % 2 == 0 ? DataKind::Scaled : static_cast<DataKind>(below(dataKindCount))};
      data.range = static_cast<double>(below(2001) - 1000) / 1000;
      data.turn = static_cast<int>(below(specialTurns));
      const std::vector<int> tensors = tensorParameters();
      const bool isOne = data.kind == DataKind::Special && !tensors.empty();
      const int dataOf =
          isOne ? tensors[static_cast<size_t>(below(static_cast<int64_t>(tensors.size())))] : -1;
      add(fmt::format("drawn {}", i + 1), std::move(binding), data, layout, dataOf);
      grid.back().seed = random() >> 16; // its number makes its name its own
    }
  }

  std::vector<GridCase> grid;

private:
  std::set<std::string> taken;

  std::vector<int> tensorParameters() const {
    std::vector<int> tensors;
    for (size_t i = 0; i < op.parameters.size(); ++i) {
      const DType own = op.parameters[i].fixedDtype.value_or(dtype);
      if (!op.parameters[i].isScalar && own != DType::Bool && !isBesideFloats(own, dtype)) {
        tensors.push_back(static_cast<int>(i));
      }
    }
    return tensors;
  }

  int64_t rowsOf(int parameter, const Binding &binding) const {
    auto sizes = bind(op.parameters[static_cast<size_t>(parameter)].shape, binding);
    const int64_t elements = sizes ? elementCountOf(*sizes).value_or(0) : 0;
    return elements == 0 || sizes->empty() ? elements : elements / sizes->back();
  }

  /// Sizes that halve as often as they double, few enough elements in all.
  Binding drawnBinding(const std::function<int64_t(int64_t)> &below) const {
    Binding binding;
    int64_t room = mostDrawnElements;
    auto draw = [&] {
      const int64_t most = std::min<int64_t>(int64_t{1} << (1 + below(9)), room);
      const int64_t size = 1 + below(most);
      room = std::max<int64_t>(room / size, 1);
      return size;
    };
    for (const std::string &symbol : symbolsOf(op)) {
      if (symbol != "...") {
        binding.symbols[symbol] = draw();
      }
    }
    for (int64_t rank = hasRest(op) ? below(4) : 0; rank > 0; --rank) {
      binding.rest.push_back(draw());
    }
    return binding;
  }

  const Operator &op;
  DType dtype;
  double mostBytes;
};

} // namespace

std::vector<GridCase> accuracyGrid(const Operator &op, uint64_t seed, int drawn, DType dtype) {
  GridWriter writer(op, dtype);
  writer.addSizes();
  writer.addValues();
  writer.addLayouts();
  writer.addNumbers();
  for (GridCase &one : writer.grid) {
    one.seed += seed;
  }
  writer.addDrawn(seed, drawn);
  for (const Case &given : op.accuracyCases) {
    GridCase one{given.name + " " + sizesName(op, given.binding), given.binding};
    one.seed = 1000 + writer.grid.size() + seed;
    writer.grid.push_back(std::move(one));
  }
  return std::move(writer.grid);
}

std::optional<GridCase> caseOfSizes(const Operator &op, const std::string &name, Binding binding,
                                    DType dtype) {
  GridWriter writer(op, dtype, tensorBytes(op, binding, DType::F32));
  writer.add(name, std::move(binding));
  const bool isMade = !writer.grid.empty() && writer.grid.front().unmet.empty();
  return isMade ? std::optional(std::move(writer.grid.front())) : std::nullopt;
}

LaidOut makeLaidOut(const std::vector<int64_t> &sizes, DType dtype, LayoutKind layout,
                    size_t rowDims, int64_t gap) {
  LaidOut made;
  int64_t count = elementCountOf(sizes).value_or(-1);
  bool plain = layout == LayoutKind::Contiguous || sizes.empty() || count <= 0;
  if (plain) {
    made.storage = made.view = Tensor::empty(sizes, dtype);
    if (made.storage.isValid()) {
      made.storage.poison();
    }
    return made;
  }
  const size_t rowBegin = sizes.size() - std::min(rowDims, sizes.size());
  int64_t rowLength = 1;
  for (size_t i = rowBegin; i < sizes.size(); ++i) {
    rowLength *= sizes[i];
  }
  bool isStrided = layout == LayoutKind::OuterStride && rowBegin > 0;
  int64_t step = isStrided ? rowLength + gap : rowLength;
  int64_t needed = 0;
  bool overflows = __builtin_mul_overflow(count / rowLength, step, &needed) ||
                   __builtin_add_overflow(needed, 1, &needed);
  made.storage = overflows ? Tensor() : Tensor::empty({needed}, dtype);
  if (overflows || !made.storage.isValid()) {
    made.view = Tensor::borrow(nullptr, sizes, dtype);
    return made;
  }
  made.storage.poison();
  std::vector<int64_t> strides(sizes.size(), 1);
  int64_t stride = 1;
  for (size_t i = sizes.size(); i-- > 0;) {
    stride = i + 1 == rowBegin ? step : stride;
    strides[i] = stride;
    stride *= sizes[i];
  }
  int64_t first = layout == LayoutKind::Unaligned ? 1 : 0;
  char *base =
      static_cast<char *>(made.storage.data()) + first * static_cast<int64_t>(sizeInBytes(dtype));
  made.view = Tensor::borrow(base, sizes, dtype, strides);
  return made;
}

namespace {

/// Fills a tensor with what its data are computed by.
Status fillComputed(const Operator &op, const std::string &name, const Operator &data,
                    const std::vector<LaidOut> &inputs, const Computation &compute,
                    const Tensor &to) {
  std::vector<Tensor> given;
  for (const Parameter &each : data.parameters) {
    const auto found = std::find_if(op.parameters.begin(), op.parameters.end(),
                                    [&](const Parameter &one) { return one.name == each.name; });
    given.push_back(inputs[static_cast<size_t>(found - op.parameters.begin())].view);
  }
  const auto made = compute(data, given);
  if (!made) {
    return made.error();
  }
  const Tensor &value = made->front();
  if (value.shape() != to.shape()) {
    return makeError("E0617", fmt::format("data of '{}' have the shape {}, but it has {}", name,
                                          sizesText(value.shape()), sizesText(to.shape())))
        .withHelp("a constraint says what the input's sizes are");
  }
  for (int64_t i = 0; i < to.elementCount(); ++i) {
    if (isFloat(to.dtype())) {
      to.set(i, value.at(i));
    } else {
      runtime::storeInteger(to, i, runtime::loadInteger(value, i));
    }
  }
  return Done{};
}

} // namespace

Result<std::vector<LaidOut>> makeInputs(const Operator &op, const GridCase &grid, DType dtype,
                                        const Computation &compute) {
  std::vector<LaidOut> inputs;
  uint64_t seed = grid.seed * 64;
  for (const Parameter &parameter : op.parameters) {
    ++seed;
    if (parameter.isScalar) {
      Tensor number = Tensor::empty({}, DType::F64);
      const size_t at = inputs.size();
      number.set(0, at < grid.numbers.size() ? grid.numbers[at] : parameter.value);
      inputs.push_back({number, number});
      continue;
    }
    Result<std::vector<int64_t>> sizes = bind(parameter.shape, grid.binding);
    if (!sizes) {
      return sizes.error();
    }
    const size_t number = inputs.size();
    const bool isKept = grid.layout == LayoutKind::OuterStride && mustBeContiguous(op, number);
    LaidOut made = makeLaidOut(*sizes, parameter.fixedDtype.value_or(dtype),
                               isKept ? LayoutKind::Contiguous : grid.layout, 1,
                               smallestGap + static_cast<int64_t>(number));
    if (!made.view.isValid()) {
      return makeError("E0506", fmt::format("no memory for input '{}' of shape {}", parameter.name,
                                            sizesText(*sizes)))
          .withHelp("use smaller shapes, or a machine with more memory");
    }
    const bool isPlain = (grid.dataOf >= 0 && grid.dataOf != static_cast<int>(number)) ||
                         (isBesideFloats(made.view.dtype(), dtype) && isFar(grid.data.kind));
    Data data = isPlain ? Data{} : grid.data;
    // NaN beside NaN, and an infinity beside itself: they are equal, or not.
    data.places = grid.dataOf < 0 ? grid.seed + 1 : 0;
    const auto computed = compute ? dataOperator(op, number) : std::nullopt;
    if (computed) {
      if (Status filled = fillComputed(op, parameter.name, *computed, inputs, compute, made.view);
          !filled) {
        return filled.error();
      }
    } else if (parameter.range) {
      auto ends = rangeOf(*parameter.range, grid.binding);
      const std::string problem = rangeProblem(parameter, grid.binding);
      if (!ends || !problem.empty()) {
        return makeError("E0617", fmt::format("'{}': {}", op.name, problem));
      }
      fillIndices(made.view, data, seed, ends->first, ends->second, parameter.range->distinct);
    } else {
      fillData(made.view, data, seed, valueRange(op, number));
    }
    inputs.push_back(std::move(made));
  }
  return inputs;
}

} // namespace nereid::definition
