// SPDX-License-Identifier: Apache-2.0
#include "lib/generator/launch/table/Offsets.h"

#include "lib/generator/template/Blocks.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>

namespace nereid::generator {
namespace {

bool dependsOnData(const Atom &atom) {
  if (atom.kind == Atom::Kind::Data) {
    return true;
  }
  return atom.argument && std::any_of(atom.argument->terms().begin(), atom.argument->terms().end(),
                                      [](const auto &term) { return dependsOnData(term.first); });
}

/// Expressions that no lane computes more than, whatever the signs.
struct Magnitudes {
  const Program &program;
  std::map<IteratorId, std::string> beyond; ///< lanes behind the last point of a dimension

  std::string of(const Affine &value) const;
  std::string of(const Atom &atom) const;
  std::string text(const Polynomial &value) const { return launchText(value, program); }
};

std::string Magnitudes::of(const Affine &value) const {
  std::string sum = fmt::format("abs({})", text(value.constant()));
  for (const auto &[atom, coefficient] : value.terms()) {
    sum += fmt::format(" + abs({})*({})", text(coefficient), of(atom));
  }
  return sum;
}

std::string Magnitudes::of(const Atom &atom) const {
  switch (atom.kind) {
  case Atom::Kind::Iterator: {
    const std::string extent = text(program.space.iterators[atom.iterator].extent);
    auto found = beyond.find(atom.iterator);
    return found == beyond.end() ? extent : extent + " + " + found->second;
  }
  case Atom::Kind::Data: // what is read has 64 bits
    return isPlace(atom.node) ? text(atom.size) : "0";
  case Atom::Kind::Quotient:
    return of(*atom.argument);
  case Atom::Kind::Remainder:
    return text(atom.size);
  }
  return "0";
}

} // namespace

bool isAtData(const StageKernel &kernel) {
  return std::any_of(kernel.offsets.begin(), kernel.offsets.end(), [](const Affine &offset) {
    return std::any_of(offset.terms().begin(), offset.terms().end(),
                       [](const auto &term) { return dependsOnData(term.first); });
  });
}

std::string isWide(const StageKernel &kernel, const Program &program) {
  std::vector<std::string> ends = {"0", "0"}; // max takes two at least
  Magnitudes magnitudes{program, {}};
  for (const TileDim &dim : kernel.dims) {
    if (dim.form == DimForm::Point) {
      continue;
    }
    magnitudes.beyond[dim.iterators[0]] = dim.block;
    if (dim.also) {
      magnitudes.beyond[*dim.also] = dim.block;
    }
    ends.push_back(fmt::format("{} + {}", launchExtent(dim, program), dim.block));
  }
  std::set<Affine> told;
  for (const Affine &offset : kernel.offsets) {
    if (!offset.isConstant() && told.insert(offset).second) {
      ends.push_back(magnitudes.of(offset));
    }
  }
  return fmt::format("max({}) > 2147483647", fmt::join(ends, ", "));
}

} // namespace nereid::generator
