// SPDX-License-Identifier: Apache-2.0
#include "test/fuzz/ProgramWriter.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <random>
#include <regex>

namespace nereid::fuzz {
namespace {

using Shape = std::vector<int64_t>;

struct Value {
  std::string name;
  std::string type; ///< int32, float16, int1, …
  Shape shape;      ///< empty = scalar
};

bool isReal(const std::string &type) { return type.starts_with("float") || type == "bfloat16"; }

int64_t countOf(const Shape &shape) {
  int64_t count = 1;
  for (int64_t size : shape) {
    count *= size;
  }
  return count;
}

class Writer {
public:
  explicit Writer(uint64_t seed) : random(seed) {}

  Program write() {
    load();
    int64_t length = 4 + pick(14);
    for (int64_t i = 0; i < length; ++i) {
      statement();
    }
    for (const Value &value : values) {
      storeOut(value);
    }
    return std::move(program);
  }

private:
  int64_t pick(int64_t count) {
    return static_cast<int64_t>(random() % static_cast<uint64_t>(count));
  }
  bool chance(int64_t percent) { return pick(100) < percent; }
  template <class T> const T &oneOf(const std::vector<T> &list) {
    return list[static_cast<size_t>(pick(static_cast<int64_t>(list.size())))];
  }
  void line(std::string text) { program.statements.push_back(std::move(text)); }

  Value fresh(std::string type, Shape shape) {
    return {fmt::format("v{}", counter++), std::move(type), std::move(shape)};
  }
  /// Gives the expression a name; floating-point results become whole numbers within bounds again.
  const Value &bind(const std::string &expression, const std::string &type, const Shape &shape,
                    bool isBounded = false) {
    Value value = fresh(type, shape);
    if (isReal(type) && !isBounded) {
      line(fmt::format("{} = tl.floor(tl.clamp(({}).to(tl.float32), -64.0, 64.0)).to(tl.{})",
                       value.name, expression, type));
    } else {
      line(fmt::format("{} = ({}).to(tl.{})", value.name, expression, type));
    }
    values.push_back(value);
    return values.back();
  }

  std::string rangeOver(size_t dim, size_t rank, int64_t size) {
    if (rank == 1) {
      return fmt::format("tl.arange(0, {})", size);
    }
    std::vector<std::string> index(rank, "None");
    index[dim] = ":";
    return fmt::format("tl.arange(0, {})[{}]", size, fmt::join(index, ", "));
  }
  /// Row-major positions 0 … count-1 of a tile.
  std::string positions(const Shape &shape) {
    if (shape.empty()) {
      return "0";
    }
    std::string text;
    int64_t stride = countOf(shape);
    for (size_t d = 0; d < shape.size(); ++d) {
      stride /= shape[d];
      text += fmt::format("{}{} * {}", d == 0 ? "" : " + ", rangeOver(d, shape.size(), shape[d]),
                          stride);
    }
    return text;
  }

  const Value &load() {
    static const std::vector<Shape> shapes = {{16},    {32},      {64},    {8, 8},       {4, 16},
                                              {16, 2}, {2, 4, 8}, {1, 16}, {2, 2, 2, 4}, {}};
    Shape shape = oneOf(shapes);
    std::string at = fmt::format("{} + ({}) * {}", pick(512), positions(shape), 1 + pick(3));
    if (chance(20)) {
      at = fmt::format("({}) * 37 % 1021", positions(shape));
    }
    if (chance(25)) {
      at += " + n";
    }
    std::string mask;
    if (chance(50)) {
      const char *forms[] = {", mask=({}) < n, other=3", ", mask=({}) % 3 != 1, other=-1",
                             ", mask=(({}) > 2) & (({}) < m), other=7"};
      std::string form = forms[pick(3)];
      mask = fmt::format(fmt::runtime(form), positions(shape), positions(shape));
    }
    bool real = chance(40);
    std::string type = real ? oneOf(realTypes) : oneOf(wholeTypes);
    return bind(fmt::format("tl.load({} + {}{})", real ? "X" : "A", at, mask), type, shape, true);
  }

  const Value &any() { return oneOf(values); }
  /// A value of this kind and shape, made when there is none.
  Value like(const Shape &shape, bool real) {
    std::vector<Value> fitting;
    for (const Value &value : values) {
      if (value.shape == shape && isReal(value.type) == real && value.type != "int1") {
        fitting.push_back(value);
      }
    }
    if (!fitting.empty() && chance(80)) {
      return oneOf(fitting);
    }
    std::string type = real ? "float32" : "int32";
    return bind(fmt::format("tl.load({} + {} + {})", real ? "X" : "A", pick(100), positions(shape)),
                type, shape, true);
  }

  void statement() {
    switch (pick(18)) {
    case 0:
      load();
      return;
    case 1:
    case 2:
    case 3:
      return elementwise();
    case 4:
      return broadcasting();
    case 5:
      return reduction();
    case 6:
      return reshaping();
    case 7:
      return choice();
    case 8:
      return loop();
    case 9:
      return condition();
    case 10:
      return scan();
    case 11:
      return matrix();
    case 12:
      return conversion();
    case 13:
      return pairs();
    case 14:
      return gathering();
    case 15:
      return counting();
    case 16:
      return combination();
    default:
      return memory();
    }
  }

  void elementwise() {
    Value a = any();
    bool real = isReal(a.type);
    if (a.type == "int1") {
      Value b = like(a.shape, false);
      bind(fmt::format("{} {} ({} > 2)", a.name, oneOf<std::string>({"&", "|", "^"}), b.name),
           "int1", a.shape);
      return;
    }
    Value b = like(a.shape, real);
    if (chance(15)) {
      bind(fmt::format("{} {} {}", a.name, oneOf<std::string>({"<", "<=", "==", "!=", ">", ">="}),
                       b.name),
           "int1", a.shape);
      return;
    }
    if (real) {
      static const std::vector<std::string> forms = {
          "{} + {}",      "{} - {}",        "{} * {}", "tl.maximum({}, {})", "tl.minimum({}, {})",
          "-{} + {} * 0", "tl.abs({}) - {}"};
      bind(fmt::format(fmt::runtime(oneOf(forms)), a.name, b.name),
           oneOf<std::string>({a.type, b.type}), a.shape);
      return;
    }
    // Division wants operands of one signedness.
    static const std::vector<std::string> forms = {"{} + {}",
                                                   "{} - {}",
                                                   "{} * {}",
                                                   "{} & {}",
                                                   "{} | {}",
                                                   "{} ^ {}",
                                                   "{0} // (({1} & 7).to(tl.{2}) + 1)",
                                                   "{0} % (({1} & 15).to(tl.{2}) + 1)",
                                                   "{} << ({} & 7)",
                                                   "{} >> ({} & 7)",
                                                   "tl.maximum({}, {})",
                                                   "tl.minimum({}, {})",
                                                   "~{} + {}",
                                                   "tl.abs({}) ^ {}"};
    bind(fmt::format(fmt::runtime(oneOf(forms)), a.name, b.name, a.type),
         oneOf<std::string>({a.type, b.type}), a.shape);
  }

  void broadcasting() {
    Value a = any();
    if (a.shape.empty() || a.shape.size() > 2 || countOf(a.shape) > 128) {
      return;
    }
    size_t axis = static_cast<size_t>(pick(static_cast<int64_t>(a.shape.size()) + 1));
    Shape shape = a.shape;
    shape.insert(shape.begin() + static_cast<ptrdiff_t>(axis), 1);
    Value wide = bind(fmt::format("tl.expand_dims({}, {})", a.name, axis), a.type, shape, true);
    shape[axis] = int64_t{1} << (1 + pick(3));
    bind(fmt::format("tl.broadcast_to({}, {})", wide.name, fmt::join(shape, ", ")), a.type, shape,
         true);
  }

  void reduction() {
    Value a = any();
    if (a.shape.empty() || a.type == "int1") {
      return;
    }
    auto axis = static_cast<size_t>(pick(static_cast<int64_t>(a.shape.size())));
    Shape shape = a.shape;
    shape.erase(shape.begin() + static_cast<ptrdiff_t>(axis));
    std::string type = a.type;
    std::vector<std::string> functions = {"sum", "max", "min"};
    if (a.type == "int32" || a.type == "int64") {
      functions.push_back("xor_sum");
    }
    if (chance(20)) {
      bind(
          fmt::format("tl.{}({}, axis={})", oneOf<std::string>({"argmax", "argmin"}), a.name, axis),
          "int32", shape);
      return;
    }
    // A sum of many numbers is not exact in bfloat16, and then its order shows.
    const std::string function = oneOf(functions);
    bool isRounded = function == "sum" && a.type == "bfloat16";
    bind(fmt::format("tl.{}({}{}, axis={})", function, a.name, isRounded ? ".to(tl.float32)" : "",
                     axis),
         type, shape);
  }

  void reshaping() {
    Value a = any();
    if (a.shape.size() < 2) {
      if (a.shape.size() == 1 && a.shape[0] >= 8) {
        bind(fmt::format("tl.reshape({}, ({}, 4))", a.name, a.shape[0] / 4), a.type,
             {a.shape[0] / 4, 4}, true);
      }
      return;
    }
    if (chance(40)) {
      bind(fmt::format("tl.reshape({}, ({},))", a.name, countOf(a.shape)), a.type,
           {countOf(a.shape)}, true);
      return;
    }
    std::vector<size_t> order(a.shape.size());
    for (size_t d = 0; d < order.size(); ++d) {
      order[d] = d;
    }
    std::shuffle(order.begin(), order.end(), random);
    Shape shape;
    for (size_t d : order) {
      shape.push_back(a.shape[d]);
    }
    bind(fmt::format("tl.permute({}, ({}))", a.name, fmt::join(order, ", ")), a.type, shape, true);
  }

  void choice() {
    Value a = any();
    if (a.type == "int1") {
      return;
    }
    Value b = like(a.shape, isReal(a.type)), c = like(a.shape, chance(50));
    bind(fmt::format("tl.where({} > {}, {}, {})", c.name, pick(5), a.name, b.name), a.type,
         a.shape);
  }

  void loop() {
    Value a = any();
    if (a.type == "int1") {
      return;
    }
    Value b = like(a.shape, isReal(a.type)), carried = fresh(a.type, a.shape);
    std::string bound = oneOf<std::string>({"3", "n % 5", "m - n", "0"});
    std::string step =
        isReal(a.type)
            ? fmt::format("tl.floor(tl.clamp(({} + {} * k).to(tl.float32), -64.0, 64.0))",
                          carried.name, b.name)
            : fmt::format("({} ^ {}) + k", carried.name, b.name);
    if (chance(30)) {
      std::string k = carried.name + "k";
      line(fmt::format("{} = {}\n    {} = 0\n    while {} < {}:\n        {} = ({}).to(tl.{})\n"
                       "        {} += 1",
                       carried.name, a.name, k, k, bound, carried.name,
                       std::regex_replace(step, std::regex("\\bk\\b"), k), a.type, k));
    } else {
      line(fmt::format("{} = {}\n    for k in range({}):\n        {} = ({}).to(tl.{})",
                       carried.name, a.name, bound, carried.name, step, a.type));
    }
    values.push_back(carried);
  }

  void condition() {
    Value a = any();
    if (a.type == "int1") {
      return;
    }
    Value b = like(a.shape, isReal(a.type)), merged = fresh(a.type, a.shape);
    line(fmt::format("if n {} {}:\n        {} = {}\n    else:\n        {} = ({}).to(tl.{})",
                     oneOf<std::string>({"<", ">", "=="}), pick(12), merged.name, a.name,
                     merged.name, b.name, a.type));
    values.push_back(merged);
  }

  void scan() {
    Value a = any();
    if (a.shape.empty() || a.type == "int1" || countOf(a.shape) > 256) {
      return;
    }
    auto axis = static_cast<size_t>(pick(static_cast<int64_t>(a.shape.size())));
    if (chance(25) && axis + 1 == a.shape.size() && a.shape[axis] > 1) {
      bind(fmt::format("tl.sort({}, {})", a.name, axis), a.type, a.shape, true);
      return;
    }
    // Running sums of up to 64 numbers of up to 64 are exact in float16 as well, not in bfloat16.
    std::string of = isReal(a.type) ? fmt::format("{}.to(tl.float32)", a.name) : a.name;
    bind(fmt::format("tl.cumsum({}, axis={}, reverse={})", of, axis, chance(30) ? "True" : "False"),
         a.type, a.shape);
  }

  void matrix() {
    static const std::vector<int64_t> sizes = {16, 32};
    int64_t m = oneOf(sizes), k = oneOf(sizes), n = oneOf(sizes);
    Value a = bind(fmt::format("tl.load(X + {} + {})", pick(100), positions({m, k})), "float32",
                   {m, k}, true);
    Value b = bind(fmt::format("tl.load(X + {} + {})", pick(100), positions({k, n})), "float32",
                   {k, n}, true);
    bind(fmt::format("tl.dot({}, {})", a.name, b.name), "float32", {m, n});
  }

  void conversion() {
    Value a = any();
    if (a.type == "int1") {
      bind(a.name, "int32", a.shape, true);
      return;
    }
    if (isReal(a.type)) {
      bind(chance(50) ? fmt::format("tl.abs({})", a.name) : a.name,
           chance(50) ? oneOf(realTypes) : "int32", a.shape, true);
      return;
    }
    if (chance(50)) {
      bind(fmt::format("{} & 63", a.name), oneOf(realTypes), a.shape, true);
    } else {
      bind(a.name, oneOf(wholeTypes), a.shape, true);
    }
  }

  void pairs() {
    Value a = any();
    if (a.shape.empty() || a.shape.size() > 3 || a.type == "int1" || countOf(a.shape) > 256) {
      return;
    }
    if (a.shape.back() == 2 && a.shape.size() > 1) {
      Shape shape(a.shape.begin(), a.shape.end() - 1);
      Value left = fresh(a.type, shape), right = fresh(a.type, shape);
      line(fmt::format("{}, {} = tl.split({})", left.name, right.name, a.name));
      values.push_back(left);
      values.push_back(right);
      return;
    }
    Value b = like(a.shape, isReal(a.type));
    Shape shape = a.shape;
    shape.push_back(2);
    bind(fmt::format("tl.join({}, {}.to(tl.{}))", a.name, b.name, a.type), a.type, shape, true);
  }

  void gathering() {
    Value a = any();
    if (a.shape.empty() || a.type == "int1") {
      return;
    }
    auto axis = static_cast<size_t>(pick(static_cast<int64_t>(a.shape.size())));
    Value index = like(a.shape, false);
    bind(fmt::format("tl.gather({}, ({} & {}).to(tl.int32), {})", a.name, index.name,
                     a.shape[axis] - 1, axis),
         a.type, a.shape, true);
  }

  void counting() {
    Value a = any();
    if (a.shape.size() != 1 || isReal(a.type) || a.type == "int1") {
      return;
    }
    std::string mask =
        chance(40) ? fmt::format(", mask=tl.arange(0, {}) < n", a.shape[0]) : std::string();
    bind(fmt::format("tl.histogram(({} & 31).to(tl.int32) - 4, 16{})", a.name, mask), "int32",
         {16});
  }

  /// Reductions and scans of pairs by functions of the program.
  void combination() {
    Value a = any();
    if (a.shape.empty() || (a.type != "int32" && a.type != "int64") || countOf(a.shape) > 512) {
      return;
    }
    Value b = bind(fmt::format("{} & 7", like(a.shape, false).name), a.type, a.shape);
    auto axis = static_cast<size_t>(pick(static_cast<int64_t>(a.shape.size())));
    bool scans = chance(60);
    Value first = fresh(a.type, a.shape), second = fresh(a.type, a.shape);
    if (scans) {
      line(fmt::format("{}, {} = tl.associative_scan(({}, {}), {}, compose, reverse={})",
                       first.name, second.name, a.name, b.name, axis,
                       chance(40) ? "True" : "False"));
    } else {
      first.shape.erase(first.shape.begin() + static_cast<ptrdiff_t>(axis));
      second.shape = first.shape;
      line(fmt::format("{}, {} = tl.reduce(({}, {}), {}, {})", first.name, second.name, a.name,
                       b.name, axis, oneOf<std::string>({"both", "smaller"})));
    }
    values.push_back(first);
    values.push_back(second);
  }

  /// Writes a tile to memory and reads it back shifted.
  void memory() {
    Value a = any();
    int64_t count = countOf(a.shape);
    if (a.type == "int1" || used + count + 1 > outputElements / 2) {
      return;
    }
    std::string at = fmt::format("{} + {}", used, positions(a.shape));
    line(fmt::format("tl.store(OUT + {}, ({}).to(tl.int64))\n    tl.debug_barrier()", at, a.name));
    bind(fmt::format("tl.load(OUT + ({}) % {} + {})", positions(a.shape) + " + 1", count, used),
         "int64", a.shape, true);
    used += count;
  }

  void storeOut(const Value &value) {
    int64_t count = countOf(value.shape);
    if (used + count > outputElements) {
      return;
    }
    // Adding zero leaves one zero of the two.
    std::string text = isReal(value.type) ? fmt::format("({} + 0.0).to(tl.int64)", value.name)
                                          : fmt::format("{}.to(tl.int64)", value.name);
    line(fmt::format("tl.store(OUT + {} + {}, {})", used, positions(value.shape), text));
    used += count;
  }

  const std::vector<std::string> realTypes = {"float32", "float32", "float16", "bfloat16",
                                              "float64"};
  const std::vector<std::string> wholeTypes = {"int32", "int32",  "int64",  "int16", "int8",
                                               "uint8", "uint16", "uint32", "uint64"};
  std::mt19937_64 random;
  Program program;
  std::vector<Value> values;
  int counter = 0;
  int64_t used = 0;
};

} // namespace

std::string Program::source() const {
  std::string text = "import triton\nimport triton.language as tl\n\n\n"
                     "@triton.jit\ndef compose(a1, b1, a2, b2):\n"
                     "    return a1 * a2, b1 * a2 + b2\n\n\n"
                     "@triton.jit\ndef both(a1, b1, a2, b2):\n    return a1 + a2, b1 ^ b2\n\n\n"
                     "@triton.jit\ndef smaller(a1, b1, a2, b2):\n"
                     "    first = (a1 < a2) | ((a1 == a2) & (b1 < b2))\n"
                     "    return tl.where(first, a1, a2), tl.where(first, b1, b2)\n\n\n"
                     "@triton.jit\ndef kernel(A, X, OUT, n, m):\n";
  for (const std::string &statement : statements) {
    text += "    " + statement + "\n";
  }
  return statements.empty() ? text + "    pass\n" : text;
}

Program writeProgram(uint64_t seed) { return Writer(seed).write(); }

} // namespace nereid::fuzz
