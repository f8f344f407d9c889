// SPDX-License-Identifier: Apache-2.0
// Index expressions and addresses, see Values.h.
#include "lib/generator/KernelExpression.h"
#include "lib/generator/emit/Values.h"

namespace nereid::generator {
namespace {

using kernel::binary;
using kernel::call;
using kernel::name;

bool isNegative(const Polynomial &value) {
  return value.terms().size() == 1 && value.terms().begin()->second < 0;
}

} // namespace

/// Terms of iterators that a dimension packs, as one of the dimension's own index, when they step
/// as it does.
void Values::takePacked(Affine::Terms &terms, std::vector<Part> &parts) {
  for (size_t dim = 0; dim < tile.dimensions().size(); ++dim) {
    const std::vector<IteratorId> &packed = tile.dimensions()[dim].iterators;
    Polynomial step;
    bool isEven = packed.size() > 1;
    for (size_t i = packed.size(); isEven && i-- > 0;) {
      auto found = terms.find(Affine::iterator(packed[i]).terms().begin()->first);
      const bool isLast = i + 1 == packed.size();
      const Polynomial expected =
          isLast ? Polynomial() : step * program.space.iterators[packed[i + 1]].extent;
      isEven = found != terms.end() && (isLast || found->second == expected);
      step = isEven ? found->second : step;
    }
    if (!isEven) {
      continue;
    }
    Polynomial inner;
    for (IteratorId iterator : packed) {
      auto found = terms.find(Affine::iterator(iterator).terms().begin()->first);
      inner = found->second; // of the last one in the end
      terms.erase(found);
    }
    addPart(parts, inner, tile.along(dim));
  }
}

void Values::addPart(std::vector<Part> &parts, const Polynomial &coefficient,
                     const kernel::Expr &factor) {
  const bool isOff = isNegative(coefficient);
  const Polynomial size = isOff ? -coefficient : coefficient;
  parts.push_back({size.isOne() ? factor : factor * arguments.size(size, "coefficient"), isOff});
}

/// `from` and the terms, those that are taken off last; `from` may be none.
kernel::Expr Values::sum(kernel::Expr from, const Affine &value) {
  offsets.push_back(value);
  std::vector<Part> parts;
  Affine::Terms terms = value.terms();
  takePacked(terms, parts);
  for (const auto &[atom, coefficient] : terms) {
    addPart(parts, coefficient, this->atom(atom));
  }
  const bool isOff = isNegative(value.constant());
  const bool isNothing = parts.empty() && !from;
  if (!value.constant().isZero() || isNothing) {
    parts.push_back(
        {arguments.size(isOff ? -value.constant() : value.constant(), "constant"), isOff});
  }
  for (const bool takesOff : {false, true}) {
    for (const Part &part : parts) {
      if (part.isOff == takesOff) {
        from = from         ? binary(part.isOff ? "-" : "+", from, part.tree)
               : part.isOff ? kernel::unary("-", part.tree)
                            : part.tree;
      }
    }
  }
  return from;
}

kernel::Expr Values::index(const Affine &value) { return sum({}, value); }

kernel::Expr Values::atom(const Atom &atom) {
  if (atom.kind == Atom::Kind::Iterator) {
    return tile.at(atom.iterator);
  }
  if (atom.kind == Atom::Kind::Data) { // as wide as any offset, or one itself
    const Conditions around = present;
    if (isPlace(atom.node) && !atom.node->free.empty()) {
      const kernel::Expr own = place(atom.node, around).tree;
      present = around;
      return own;
    }
    const kernel::Expr read = typed(value(atom.node, around), atom.node->dtype);
    present = around;
    return atom.node->dtype == DType::I64 ? read
           : atom.node->free.empty()      ? call("tl.cast", {read, name("tl.int64")})
                                          : cast(read, "tl.int64");
  }
  if (auto found = divisions.find(atom); found != divisions.end()) {
    return found->second;
  }
  std::set<IteratorId> iterators;
  Affine::atom(atom).collect(iterators);
  if (!tile.isInLoop() || tile.variesInLoop(iterators)) {
    return division(atom);
  }
  kernel::Expr divided;
  tile.outside([&] { divided = division(atom); });
  return divided;
}

kernel::Expr Values::division(const Atom &atom) {
  bool isOfData = false;
  atom.argument->forEachAtom(
      [&](const Atom &inner) { isOfData |= inner.kind == Atom::Kind::Data; });
  const bool isQuotient = atom.kind == Atom::Kind::Quotient;
  const kernel::Expr argument = index(*atom.argument);
  const kernel::Expr size = arguments.size(atom.size, "divisor");
  kernel::Expr divided = binary(isQuotient ? "//" : "%", argument, size);
  if (!isNonNegative(*atom.argument, program.space)) { // X3 has failed: division truncates
    const kernel::Expr rest = binary("%", binary("%", argument, size) + size, size);
    divided = isQuotient ? binary("//", argument - rest, size) : rest;
  }
  if (!isOfData) {
    const std::string fresh = arguments.names.fresh(isQuotient ? "q" : "r");
    body.assign(fresh, divided);
    divided = divisions[atom] = name(fresh);
  }
  return divided;
}

kernel::Expr Values::address(BufferId id, const std::vector<Affine> &index) {
  const Buffer &buffer = program.buffers[id];
  Affine offset(buffer.offset);
  for (size_t dim = 0; dim < index.size(); ++dim) {
    offset = offset + index[dim] * buffer.strides[dim];
  }
  return sum(arguments.memory(id), offset);
}

} // namespace nereid::generator
