// SPDX-License-Identifier: Apache-2.0
// The mixed radix test, see Injective.h.
#include "lib/generator/program/Injective.h"

#include <algorithm>

namespace nereid::generator {
namespace {

struct Digit {
  IteratorId iterator;
  Polynomial step; ///< absolute value of the coefficient
};

/// `digits` can be ordered so that each step is larger than what the ones before reach.
bool haveRadices(std::vector<Digit> digits, const Polynomial &reached, const IndexSpace &space) {
  for (size_t i = 0; i < digits.size(); ++i) {
    const Digit digit = digits[i];
    if (space.symbols.isPositive(digit.step - reached)) {
      std::vector<Digit> others = digits;
      others.erase(others.begin() + static_cast<ptrdiff_t>(i));
      Polynomial most = space.iterators[digit.iterator].extent - 1;
      if (haveRadices(std::move(others), reached + digit.step * most, space)) {
        return true;
      }
    }
  }
  return digits.empty();
}

/// The iterators that the index tells, once those of `told` are known; none when that is not
/// proved.
std::vector<IteratorId> tells(const Affine &index, const std::set<IteratorId> &told,
                              const IndexSpace &space) {
  std::vector<Digit> digits;
  for (const auto &[atom, coefficient] : index.terms()) {
    std::set<IteratorId> seen;
    Affine::atom(atom).collect(seen);
    if (std::includes(told.begin(), told.end(), seen.begin(), seen.end())) {
      continue;
    }
    bool isRising = space.symbols.isPositive(coefficient);
    if (atom.kind != Atom::Kind::Iterator ||
        (!isRising && !space.symbols.isPositive(-coefficient))) {
      return {};
    }
    digits.push_back({atom.iterator, isRising ? coefficient : -coefficient});
  }
  std::vector<IteratorId> result;
  if (haveRadices(digits, 0, space)) {
    std::transform(digits.begin(), digits.end(), std::back_inserter(result),
                   [](const Digit &digit) { return digit.iterator; });
  }
  return result;
}

} // namespace

bool isInjective(const std::vector<Affine> &index, const std::set<IteratorId> &iterators,
                 const IndexSpace &space) {
  std::set<IteratorId> told;
  for (size_t before = told.size() + 1; before != told.size();) {
    before = told.size();
    for (const Affine &one : index) {
      std::vector<IteratorId> found = tells(one, told, space);
      told.insert(found.begin(), found.end());
    }
  }
  return std::includes(told.begin(), told.end(), iterators.begin(), iterators.end());
}

} // namespace nereid::generator
