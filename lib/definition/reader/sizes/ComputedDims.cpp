// SPDX-License-Identifier: Apache-2.0
#include "lib/definition/reader/sizes/ComputedDims.h"

#include "lib/definition/gradient/text/BodyText.h"
#include "lib/definition/operations/sizes/SizeRules.h"

#include <fmt/format.h>

#include <algorithm>

namespace nereid::definition {
namespace {

bool isComputed(const Dim &dim) {
  return !dim.symbol.empty() && !dim.isRest() && !isSizeName(dim.symbol);
}

using Named = ComputedDims::Named;

class Namer {
public:
  Namer(Operator &op, size_t &wrong) : op(op), wrong(wrong) {}

  Result<ComputedDims> run() {
    collect();
    while (!open.empty()) {
      const auto next = std::find_if(open.begin(), open.end(), [&](const Named &dim) {
        return unknownNames(dim).size() <= 1;
      });
      if (next == open.end()) {
        return unsolvable(open.front());
      }
      const Named dim = *next;
      open.erase(next);
      if (!solve(dim)) {
        return unsolvable(dim);
      }
    }
    return made;
  }

private:
  /// Equal dimensions have one name.
  void collect() {
    for (const Parameter &parameter : op.parameters) {
      for (const Dim &dim : parameter.shape) {
        if (!dim.symbol.empty() && !isComputed(dim)) {
          known.insert(dim.symbol);
        }
      }
    }
    for (Parameter &parameter : op.parameters) {
      for (Dim &dim : parameter.shape) {
        if (!isComputed(dim)) {
          continue;
        }
        auto found = std::find_if(made.dims.begin(), made.dims.end(),
                                  [&](const Named &each) { return each.text == dim.symbol; });
        if (found == made.dims.end()) {
          made.dims.push_back({freeName(), dim.symbol});
          found = made.dims.end() - 1;
        }
        dim = Dim{found->name, 0};
      }
    }
    open = made.dims;
    for (const Named &dim : open) {
      known.insert(dim.name);
    }
  }

  std::string freeName() const {
    for (size_t number = made.dims.size() + 1;; ++number) {
      std::string name = fmt::format("SIZE_{}", number);
      const bool isTaken = std::any_of(op.parameters.begin(), op.parameters.end(),
                                       [&](const Parameter &each) { return each.name == name; });
      if (!isTaken && !known.contains(name)) {
        return name;
      }
    }
  }

  std::vector<std::string> unknownNames(const Named &dim) const {
    std::vector<std::string> names;
    for (const std::string &name : namesIn(dim.text)) {
      if (!known.contains(name)) {
        names.push_back(name);
      }
    }
    return names;
  }

  /// dim = factor · name + rest.
  bool solve(const Named &dim) {
    const std::vector<std::string> unknown = unknownNames(dim);
    const auto size = sizePolynomial(made.replaced(dim.text));
    if (!size) {
      return false;
    }
    if (unknown.empty()) {
      made.constraints.push_back(fmt::format("{} == {}", dim.name, size->text()));
      made.known.push_back({dim.name, size->text()});
      return true;
    }
    const std::string &name = unknown[0];
    const auto rest = sizePolynomial(withNames(size->text(), {{name, "0"}}));
    const auto factor =
        rest ? (*size - *rest).dividedBy(SizePolynomial::symbol(name)) : std::nullopt;
    if (!factor || namesIn(factor->text()).contains(name) || factor->constant().value_or(1) <= 0) {
      return false;
    }
    const SizePolynomial left = SizePolynomial::symbol(dim.name) - *rest;
    if (*rest != SizePolynomial(0)) {
      made.constraints.push_back(left.comparison());
    }
    if (!factor->constant()) {
      made.constraints.push_back((*factor - 1).comparison());
    }
    if (factor->constant().value_or(2) != 1) {
      made.constraints.push_back(divisibility(left, *factor));
    }
    made.sizes.push_back({name, left.floorDivide(*factor).text()});
    known.insert(name);
    return true;
  }

  Diagnostic unsolvable(const Named &dim) {
    const auto has = [&](const Parameter &parameter) {
      return std::any_of(parameter.shape.begin(), parameter.shape.end(),
                         [&](const Dim &each) { return each.symbol == dim.name; });
    };
    wrong = static_cast<size_t>(std::find_if(op.parameters.begin(), op.parameters.end(), has) -
                                op.parameters.begin());
    const std::vector<std::string> unknown = unknownNames(dim);
    if (unknown.size() > 1) {
      return makeError("E0602",
                       fmt::format("a dimension '{}' of an input expects at most one size that no "
                                   "other dimension has alone, but got '{}'",
                                   dim.text, fmt::join(unknown, "' and '")))
          .withHelp("give one of them a dimension of its own, or make it an input: "
                    "[inputs.N] size = 8");
    }
    return makeError("E0602",
                     fmt::format("a dimension '{}' of an input does not say what {} is", dim.text,
                                 unknown.empty() ? "it" : "'" + unknown[0] + "'"))
        .withHelp("available: sums, differences and products of names and numbers, such as "
                  "\"G * H\" and \"N + 1\"");
  }

  Operator &op;
  size_t &wrong;
  std::set<std::string> known;
  std::vector<Named> open;
  ComputedDims made;
};

} // namespace

SymbolicShape ComputedDims::spelt(SymbolicShape shape) const {
  for (Dim &dim : shape) {
    const auto computed = std::find_if(known.begin(), known.end(),
                                       [&](const Named &each) { return each.name == dim.symbol; });
    dim = computed == known.end() ? dim : sizePolynomial(computed->text)->dim();
  }
  return shape;
}

std::string ComputedDims::replaced(const std::string &text) const {
  std::map<std::string, std::string> values;
  for (const Named &size : sizes) {
    values[size.name] = "(" + size.text + ")";
  }
  return values.empty() ? text : withNames(text, values);
}

Result<ComputedDims> nameComputedDims(Operator &op, size_t &wrong) {
  return Namer(op, wrong).run();
}

} // namespace nereid::definition
