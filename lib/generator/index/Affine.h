// SPDX-License-Identifier: Apache-2.0
// Index expressions: a constant and atoms with coefficients, e.g. 2*oh + kh - P. An atom is an
// iterator, a quotient or remainder of an index expression, or an index that is computed or read
// (Data). Coefficients, constants and divisors are polynomials in the symbols.
//
// Views of tensors are nothing but such expressions, so they are kept in one form by four rules:
//   X1  what n divides leaves a division by n; what then lies in [0, n) ends it. A common factor g
//   of n and
//       of some terms leaves both when the other terms lie in [0, g): (g·q + r) // (g·m) = q // m.
//   X2  n·(e // n) + e % n = e
//   X3  the argument of a division is not negative: a multiple of n is added and taken off outside,
//   so that
//       it is the same whether a language rounds down or toward zero.
//   X4  conditions are proved of bounds that are polynomials: X1 to X3 hold for symbols as for
//   numbers.
//
//   Affine i(space, …N), j(space, …4);
//   floorDivide(i * 4 + j, 4, space);  // i
#pragma once

#include "lib/generator/index/Iterators.h"

#include <functional>
#include <memory>

namespace nereid::generator {

struct Node;
class Affine;

struct Atom {
  enum class Kind : uint8_t { Iterator, Quotient, Remainder, Data };
  Kind kind = Kind::Iterator;
  IteratorId iterator = 0;
  std::shared_ptr<const Affine> argument; ///< of Quotient, Remainder
  Polynomial size;                        ///< their divisor; Data: its values lie in [0, size)
  const Node *node = nullptr;             ///< Data: the index

  bool isDivision() const { return kind == Kind::Quotient || kind == Kind::Remainder; }
  bool operator==(const Atom &other) const { return (*this <=> other) == 0; }
  std::strong_ordering operator<=>(const Atom &other) const;
};

/// What iterators become.
using IndexMap = std::map<IteratorId, Affine>;
/// What nodes of Data become.
using NodeMap = std::function<const Node *(const Node *)>;

/// Ends that belong to the values; absent: unknown.
struct Bounds {
  std::optional<Polynomial> low, high;
};

class Affine {
public:
  using Terms = std::map<Atom, Polynomial>;

  Affine(Polynomial constant = 0) : offset(std::move(constant)) {}
  Affine(int64_t constant) : offset(constant) {}
  Affine(int constant) : offset(constant) {}
  static Affine iterator(IteratorId iterator);
  static Affine data(const Node *node, Polynomial size);
  static Affine atom(Atom atom, const Polynomial &coefficient = 1);

  const Terms &terms() const { return coefficients; }
  const Polynomial &constant() const { return offset; }
  bool isConstant() const { return coefficients.empty(); }
  /// The iterator this is, alone and with coefficient 1.
  std::optional<IteratorId> asIterator() const;
  Polynomial coefficient(IteratorId iterator) const;

  Affine operator+(const Affine &other) const;
  Affine operator-(const Affine &other) const { return *this + other * -1; }
  Affine operator*(const Polynomial &factor) const;
  bool operator==(const Affine &) const = default;
  std::strong_ordering operator<=>(const Affine &other) const;

  /// Iterators are replaced; divisions are made anew, by the rules above.
  Affine substitute(const IndexMap &map, const IndexSpace &space, const NodeMap &nodes) const;
  /// The iterators, those of Data's nodes included.
  void collect(std::set<IteratorId> &iterators) const;
  /// Calls `visit` for each atom, those inside of divisions included.
  void forEachAtom(const std::function<void(const Atom &)> &visit) const;

private:
  void add(const Atom &atom, const Polynomial &coefficient);
  void joinDivisions();

  Polynomial offset;
  Terms coefficients; ///< none is 0
};

Bounds boundsOf(const Affine &value, const IndexSpace &space);
/// True when it is proved for all values of iterators and symbols.
bool isNonNegative(const Affine &value, const IndexSpace &space);
/// 0 ≤ value < size, proved.
bool isInside(const Affine &value, const Polynomial &size, const IndexSpace &space);

/// Rounded down; `by` is positive.
Affine floorDivide(const Affine &value, const Polynomial &by, const IndexSpace &space);
/// value - by · floorDivide(value, by).
Affine remainder(const Affine &value, const Polynomial &by, const IndexSpace &space);

} // namespace nereid::generator
