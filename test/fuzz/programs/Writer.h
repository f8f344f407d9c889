// SPDX-License-Identifier: Apache-2.0
// What the statements of a random program are written with: random choices, names, the values that
// there are so far, and nested blocks. Every result is exact by construction, so that the
// interpreter and a target must agree to the last bit: floating-point values are whole numbers
// between -64 and 64 (what an operation makes is clamped and rounded down again), divisors and
// shifts are bounded, and only functions that are exact on whole numbers are called.
#pragma once

#include "test/fuzz/programs/Classes.h"
#include "test/fuzz/programs/Program.h"

#include <random>
#include <set>

namespace nereid::fuzz {

using Shape = std::vector<int64_t>;

struct Value {
  std::string name;
  std::string type; ///< int32, float16, int1, …
  Shape shape;      ///< empty = scalar
};

bool isReal(const std::string &type);
int64_t countOf(const Shape &shape);
/// "int32" of a buffer's type.
std::string languageType(const std::string &buffer);
/// `tl.arange(0, size)` along one of `rank` dimensions.
std::string rangeAlong(size_t dim, size_t rank, int64_t size);
/// `name[:, None]` for the first of two dimensions; the name alone at rank 1.
std::string spreadAlong(const std::string &name, size_t dim, size_t rank);
/// What bounds floating-point numbers: floor(clamp(…)), in the type.
std::string bounded(const std::string &expression, const std::string &type);

class Writer {
public:
  explicit Writer(uint64_t seed);

  /// Stores what there is to be seen, and hands the program over.
  Program finish();

  // Choices.
  int64_t pick(int64_t count);
  int64_t between(int64_t low, int64_t high) { return low + pick(high - low + 1); }
  bool chance(int64_t percent) { return pick(100) < percent; }
  template <class T> const T &oneOf(const std::vector<T> &list) {
    return list[static_cast<size_t>(pick(static_cast<int64_t>(list.size())))];
  }
  std::string oneOf(std::initializer_list<const char *> list) {
    return list.begin()[pick(static_cast<int64_t>(list.size()))];
  }
  template <class T> void shuffle(std::vector<T> &list) {
    for (size_t i = list.size(); i > 1; --i) {
      std::swap(list[i - 1], list[static_cast<size_t>(pick(static_cast<int64_t>(i)))]);
    }
  }

  // Text.
  std::string name() { return "v" + std::to_string(counter++); }
  /// A line at the present depth.
  void line(const std::string &text);
  /// A name for the expression, which becomes a line.
  std::string let(const std::string &expression);
  void drawn(Class one) { drawn(numberOf(one)); }
  void drawn(size_t number) { program.drawn.push_back(number); }

  // Values.
  /// Gives the expression a name and type; floating-point results are bounded unless they are so.
  Value bind(const std::string &expression, const std::string &type, const Shape &shape,
             bool isBounded = false);
  /// What was made by other means.
  void keep(const Value &value) { values.push_back(value); }
  /// One of the values, loaded when there is none.
  Value any() { return values.empty() ? load() : oneOf(values); }
  /// A value of this kind and shape, made when there is none.
  Value like(const Shape &shape, bool real);
  Value load();

  // Addresses.
  /// Row-major positions 0 … count-1 of a tile; `strides`, where given, choose another order.
  std::string positions(const Shape &shape, Shape strides = {});
  /// Strides of a tile whose dimensions lie in memory in a random order, the last one first here.
  Shape strides(const Shape &shape, const std::vector<size_t> &order, int64_t padding = 0) const;
  /// "": no mask; else `, mask=…, other=…` over the positions of a tile.
  std::string mask(const Shape &shape);
  /// Room for `count` elements of OUT; -1 when there is none.
  int64_t reserve(int64_t count);
  /// Element `offset` of OUT of this program of the grid.
  std::string out(int64_t offset) { return "OUT + " + std::to_string(offset); }
  /// Stores the whole numbers of a tile in OUT, in row-major order.
  void store(const Value &value);
  void storeAt(const Value &value, int64_t offset, const std::string &positions);

  /// Whether the statement may write to a buffer that all programs of the grid share: where there
  /// are several programs, one statement alone may, or they would race.
  bool claim(const std::string &buffer) {
    return claimed.insert(buffer).second || program.programs == 1;
  }
  /// A line behind everything else.
  void atEnd(const std::string &text) { last.push_back(text); }

  /// How often a loop runs: a constant, a scalar, or a number from memory; at most six times.
  std::string bound();
  /// "pid" in a grid of several programs, "0" in one.
  std::string pid() const { return program.programs > 1 ? "pid" : "0"; }
  int64_t programs() const { return program.programs; }
  const Program &soFar() const { return program; }
  /// A parameter that points into a buffer.
  void addView(const View &view) { program.views.push_back(view); }
  /// Parameters share some of the elements that one of them writes.
  void shareInPart() { program.sharesInPart = true; }

  /// What is indented below a header; values made inside are forgotten at its end.
  class Block {
  public:
    Block(Writer &writer, const std::string &header);
    ~Block();
    Block(const Block &) = delete;
    Block &operator=(const Block &) = delete;

  private:
    Writer &writer;
    size_t known;
  };

  const std::vector<std::string> realTypes = {"float32", "float32", "float16", "bfloat16",
                                              "float64"};
  const std::vector<std::string> wholeTypes = {"int32", "int32",  "int64",  "int16", "int8",
                                               "uint8", "uint16", "uint32", "uint64"};
  /// Buffers of integers and of floating-point numbers.
  const std::vector<std::string> wholeBuffers = {"A", "A", "A", "B", "C", "D", "L", "M", "U"};
  const std::vector<std::string> realBuffers = {"X", "X", "X", "G", "H", "E", "F"};

private:
  std::mt19937_64 random;
  Program program;
  std::vector<Value> values;
  std::vector<std::string> last;
  std::set<std::string> claimed;
  int counter = 0, depth = 0;
  int64_t used = 0;
};

} // namespace nereid::fuzz
