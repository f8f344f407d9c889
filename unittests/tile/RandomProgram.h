// SPDX-License-Identifier: Apache-2.0
// Random tile programs of integers and addresses: arithmetic, shapes, loops that carry tiles which
// depend on each other, branches. They store nothing; who runs them looks at every value.
#pragma once

#include <cstdint>
#include <map>
#include <random>
#include <string>
#include <vector>

namespace nereid::test {

class RandomProgram {
public:
  explicit RandomProgram(uint64_t seed) : random(seed) {}

  /// A kernel with the arguments %p (an address, a multiple of 16), %a: i32, %b: i32 (a multiple of
  /// 16), %c: i64.
  std::string text();

private:
  struct Type {
    std::vector<int64_t> shape; ///< empty for scalars
    std::string element;
    bool operator<(const Type &other) const {
      return std::tie(shape, element) < std::tie(other.shape, other.element);
    }
    std::string name() const;
    bool isPointer() const { return element[0] == '!'; }
    unsigned width() const { return isPointer() ? 64 : std::stoul(element.substr(1)); }
  };
  struct Operand {
    std::string name;
    Type type;
  };

  int64_t below(int64_t end) { return std::uniform_int_distribution<int64_t>(0, end - 1)(random); }
  bool once(int64_t in) { return below(in) == 0; }
  template <class T> const T &any(const std::vector<T> &from) {
    return from[static_cast<size_t>(below(static_cast<int64_t>(from.size())))];
  }

  std::string fresh() { return "%v" + std::to_string(count++); }
  Operand define(const Type &type, const std::string &operation);
  Operand value();
  Operand integers();
  /// A value of this type that exists, or a constant, or one made of another.
  Operand valueOf(const Type &type);
  Operand constantOf(const Type &type);
  int64_t number(unsigned width);

  void statement(int depth);
  void arithmetic();
  void division();
  void choice();
  void conversion();
  void shape();
  void address();
  /// What kernels do: rows and columns that count up from somewhere, and a question about them that
  /// depends on where exactly.
  Operand index();
  void question(const Operand &index);
  Operand splat(const Operand &scalar, const std::vector<int64_t> &shape);
  Operand filled(const Type &type, int64_t number);
  Operand binary(const std::string &name, const Operand &left, const Operand &right);
  void loop(int depth);
  void whileLoop(int depth);
  void branch(int depth);
  void statements(int depth, int64_t most);

  std::mt19937_64 random;
  std::string body;
  std::vector<Operand> values;
  int count = 0;
};

} // namespace nereid::test
