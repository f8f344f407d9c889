// SPDX-License-Identifier: Apache-2.0
// Sums of atoms, their bounds and what substitution makes of them, see Affine.h.
#include "lib/generator/index/Affine.h"

#include "lib/generator/index/Node.h"

namespace nereid::generator {

std::strong_ordering Atom::operator<=>(const Atom &other) const {
  if (auto order = kind <=> other.kind; order != 0) {
    return order;
  }
  if (kind == Kind::Iterator) {
    return iterator <=> other.iterator;
  }
  if (auto order = size <=> other.size; order != 0) {
    return order;
  }
  return kind == Kind::Data ? node->number <=> other.node->number : *argument <=> *other.argument;
}

Affine Affine::iterator(IteratorId iterator) {
  Atom atom;
  atom.iterator = iterator;
  return Affine::atom(atom);
}

Affine Affine::data(const Node *node, Polynomial size) {
  Atom atom;
  atom.kind = Atom::Kind::Data;
  atom.node = node;
  atom.size = std::move(size);
  return Affine::atom(atom);
}

Affine Affine::atom(Atom atom, const Polynomial &coefficient) {
  Affine result;
  result.add(atom, coefficient);
  return result;
}

std::optional<IteratorId> Affine::asIterator() const {
  if (!offset.isZero() || coefficients.size() != 1) {
    return std::nullopt;
  }
  const auto &[atom, coefficient] = *coefficients.begin();
  bool isAlone = atom.kind == Atom::Kind::Iterator && coefficient.isOne();
  return isAlone ? std::optional(atom.iterator) : std::nullopt;
}

Polynomial Affine::coefficient(IteratorId iterator) const {
  Atom atom;
  atom.iterator = iterator;
  auto found = coefficients.find(atom);
  return found == coefficients.end() ? Polynomial() : found->second;
}

void Affine::add(const Atom &atom, const Polynomial &coefficient) {
  Polynomial sum = coefficient;
  if (auto found = coefficients.find(atom); found != coefficients.end()) {
    sum = sum + found->second;
  }
  if (sum.isZero()) {
    coefficients.erase(atom);
  } else {
    coefficients[atom] = sum;
  }
}

Affine Affine::operator+(const Affine &other) const {
  Affine result = *this;
  result.offset = offset + other.offset;
  for (const auto &[atom, coefficient] : other.coefficients) {
    result.add(atom, coefficient);
  }
  result.joinDivisions();
  return result;
}

Affine Affine::operator*(const Polynomial &factor) const {
  Affine result(offset * factor);
  for (const auto &[atom, coefficient] : coefficients) {
    result.add(atom, coefficient * factor);
  }
  return result;
}

/// X2. The quotient that belongs to e % n is e // n, and d // (m·n) when e is itself a quotient d
/// // m, which floorDivide takes into one.
void Affine::joinDivisions() {
  for (const auto &[atom, coefficient] : coefficients) {
    if (atom.kind != Atom::Kind::Remainder) {
      continue;
    }
    Atom whole = atom;
    whole.kind = Atom::Kind::Quotient;
    const Affine &argument = *atom.argument;
    if (argument.constant().isZero() && argument.terms().size() == 1) {
      const auto &[inner, times] = *argument.terms().begin();
      if (inner.kind == Atom::Kind::Quotient && times.isOne()) {
        whole.argument = inner.argument;
        whole.size = inner.size * atom.size;
      }
    }
    auto found = coefficients.find(whole);
    if (found != coefficients.end() && found->second == coefficient * atom.size) {
      Affine joined = argument * coefficient;
      Atom part = atom;
      coefficients.erase(found);
      coefficients.erase(part);
      *this = *this + joined;
      return; // the sum has looked for further pairs
    }
  }
}

std::strong_ordering Affine::operator<=>(const Affine &other) const {
  if (auto order = offset <=> other.offset; order != 0) {
    return order;
  }
  return std::lexicographical_compare_three_way(coefficients.begin(), coefficients.end(),
                                                other.coefficients.begin(),
                                                other.coefficients.end());
}

Affine Affine::substitute(const IndexMap &map, const IndexSpace &space,
                          const NodeMap &nodes) const {
  Affine result(offset);
  for (const auto &[atom, coefficient] : coefficients) {
    Affine value = Affine::atom(atom);
    if (atom.kind == Atom::Kind::Iterator) {
      if (auto found = map.find(atom.iterator); found != map.end()) {
        value = found->second;
      }
    } else if (atom.kind == Atom::Kind::Data) {
      value = data(nodes(atom.node), atom.size);
    } else {
      Affine argument = atom.argument->substitute(map, space, nodes);
      value = atom.kind == Atom::Kind::Quotient ? floorDivide(argument, atom.size, space)
                                                : remainder(argument, atom.size, space);
    }
    result = result + value * coefficient;
  }
  return result;
}

void Affine::collect(std::set<IteratorId> &iterators) const {
  forEachAtom([&](const Atom &atom) {
    if (atom.kind == Atom::Kind::Iterator) {
      iterators.insert(atom.iterator);
    } else if (atom.kind == Atom::Kind::Data) {
      iterators.insert(atom.node->free.begin(), atom.node->free.end());
    }
  });
}

void Affine::forEachAtom(const std::function<void(const Atom &)> &visit) const {
  for (const auto &[atom, coefficient] : coefficients) {
    visit(atom);
    if (atom.isDivision()) {
      atom.argument->forEachAtom(visit);
    }
  }
}

// ---- bounds ----

namespace {

Bounds boundsOf(const Atom &atom, const IndexSpace &space) {
  const Symbols &symbols = space.symbols;
  switch (atom.kind) {
  case Atom::Kind::Iterator:
    return {Polynomial(0), space.iterators[atom.iterator].extent - 1};
  case Atom::Kind::Data:
  case Atom::Kind::Remainder:
    return {Polynomial(0), atom.size - 1};
  case Atom::Kind::Quotient:
    break;
  }
  Bounds inner = generator::boundsOf(*atom.argument, space), result;
  if (inner.low) {
    result.low = symbols.floorDivide(*inner.low, atom.size);
    if (!result.low && symbols.isNonNegative(*inner.low)) {
      result.low = 0;
    }
  }
  if (inner.high) {
    result.high = symbols.floorDivide(*inner.high, atom.size);
    if (!result.high && symbols.isNonNegative(*inner.high)) {
      result.high = inner.high; // no quotient by a positive number is larger
    }
  }
  return result;
}

} // namespace

Bounds boundsOf(const Affine &value, const IndexSpace &space) {
  Bounds sum{value.constant(), value.constant()};
  for (const auto &[atom, coefficient] : value.terms()) {
    Bounds bounds = boundsOf(atom, space);
    bool isRising = space.symbols.isNonNegative(coefficient);
    if (!isRising) {
      if (!space.symbols.isNonNegative(-coefficient)) {
        return {};
      }
      std::swap(bounds.low, bounds.high);
    }
    auto add = [&](std::optional<Polynomial> &total, const std::optional<Polynomial> &end) {
      total = total && end ? std::optional(*total + *end * coefficient) : std::nullopt;
    };
    add(sum.low, bounds.low);
    add(sum.high, bounds.high);
  }
  return sum;
}

bool isNonNegative(const Affine &value, const IndexSpace &space) {
  Bounds bounds = boundsOf(value, space);
  return bounds.low && space.symbols.isNonNegative(*bounds.low);
}

bool isInside(const Affine &value, const Polynomial &size, const IndexSpace &space) {
  return isNonNegative(value, space) && isNonNegative(Affine(size - 1) - value, space);
}

} // namespace nereid::generator
