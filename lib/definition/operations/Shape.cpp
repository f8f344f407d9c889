// SPDX-License-Identifier: Apache-2.0
// Symbolic and concrete shapes, and the way from one to the other (bind, bindShapes).
#include "lib/definition/operations/Shape.h"

#include "lib/definition/operations/SizeAlgebra.h"
#include "lib/definition/operations/SizeExpression.h"

#include <fmt/format.h>

#include <algorithm>
#include <charconv>

namespace nereid::definition {
namespace {

bool isOne(const Dim &dim) { return dim.symbol.empty() && dim.constant == 1; }

/// Unifies the parameter's shape with concrete sizes; false when they disagree.
bool unify(const SymbolicShape &shape, const std::vector<int64_t> &sizes, Binding &binding,
           bool &restBound) {
  bool hasRest = !shape.empty() && shape[0].isRest();
  size_t named = shape.size() - (hasRest ? 1 : 0);
  if (sizes.size() < named || (!hasRest && sizes.size() != named)) {
    return false;
  }
  size_t leading = sizes.size() - named;
  if (hasRest) {
    std::vector<int64_t> rest(sizes.begin(), sizes.begin() + static_cast<ptrdiff_t>(leading));
    if (restBound && rest != binding.rest) {
      return false;
    }
    binding.rest = std::move(rest);
    restBound = true;
  }
  for (size_t i = 0; i < named; ++i) {
    const Dim &dim = shape[i + (hasRest ? 1 : 0)];
    int64_t size = sizes[leading + i];
    if (dim.symbol.empty()) {
      if (dim.constant != size) {
        return false;
      }
    } else if (auto [at, added] = binding.symbols.emplace(dim.symbol, size);
               !added && at->second != size) {
      return false;
    }
  }
  return true;
}

} // namespace

std::string text(const SymbolicShape &shape) {
  std::string out = "[";
  for (size_t i = 0; i < shape.size(); ++i) {
    out += i ? ", " : "";
    out += shape[i].symbol.empty() ? std::to_string(shape[i].constant) : shape[i].symbol;
  }
  return out + "]";
}

std::string sizesText(std::span<const int64_t> sizes) {
  return fmt::format("[{}]", fmt::join(sizes.begin(), sizes.end(), ", "));
}

std::variant<SymbolicShape, std::string> parseShape(const std::vector<std::string> &entries) {
  SymbolicShape shape;
  for (const std::string &entry : entries) {
    Dim dim;
    int64_t value = 0;
    auto [end, failure] = std::from_chars(entry.data(), entry.data() + entry.size(), value);
    if (entry == "...") {
      if (!shape.empty()) {
        return std::string("'...' may only be the first dimension");
      }
      dim.symbol = entry;
    } else if (failure == std::errc() && end == entry.data() + entry.size()) {
      if (value < 0) {
        return fmt::format("a dimension expects a size of at least 0, but got {}", value);
      }
      dim.constant = value;
    } else if (isSizeName(entry)) {
      dim.symbol = entry;
    } else {
      return fmt::format("a dimension expects '...', a name or a size, but got '{}'", entry);
    }
    shape.push_back(std::move(dim));
  }
  return shape;
}

std::variant<SymbolicShape, std::string>
parseComputedShape(const std::vector<std::string> &entries) {
  std::vector<std::string> plain;
  SymbolicShape computed;
  for (const std::string &entry : entries) {
    const bool isComputed = entry.find_first_of("+-*/% (") != std::string::npos;
    const auto size = isComputed ? sizePolynomial(entry) : std::nullopt;
    computed.push_back(size ? size->dim() : Dim{});
    plain.push_back(size ? "0" : entry);
  }
  auto shape = parseShape(plain);
  auto *dims = std::get_if<SymbolicShape>(&shape);
  for (size_t i = 0; dims && i < dims->size(); ++i) {
    (*dims)[i] = plain[i] == entries[i] ? (*dims)[i] : computed[i];
  }
  return shape;
}

std::optional<SymbolicShape> broadcast(const SymbolicShape &a, const SymbolicShape &b) {
  if (a.size() < b.size()) {
    return broadcast(b, a);
  }
  if (!b.empty() && b[0].isRest() && a.size() > b.size()) {
    return std::nullopt; // what "..." of the shorter one lines up with depends on its length
  }
  SymbolicShape out = a;
  size_t offset = a.size() - b.size();
  for (size_t i = 0; i < b.size(); ++i) {
    const Dim &left = a[offset + i], &right = b[i];
    if (left == right || (isOne(right) && !left.isRest())) {
      continue;
    }
    if (!isOne(left) || right.isRest()) {
      return std::nullopt;
    }
    out[offset + i] = right;
  }
  return out;
}

std::variant<std::vector<int64_t>, std::string> normaliseDims(const SymbolicShape &shape,
                                                              std::vector<int64_t> dims) {
  bool hasRest = !shape.empty() && shape[0].isRest();
  auto named = static_cast<int64_t>(shape.size()) - (hasRest ? 1 : 0);
  for (int64_t &dim : dims) {
    if (dim >= 0 && hasRest) {
      return fmt::format("dim={} counts from the front of {}, whose rank is open", dim,
                         text(shape));
    }
    int64_t negative = dim >= 0 ? dim - named : dim;
    if (negative < -named || negative >= 0) {
      return fmt::format("dim={} is outside of {}", dim, text(shape));
    }
    dim = negative;
  }
  std::sort(dims.begin(), dims.end());
  if (std::adjacent_find(dims.begin(), dims.end()) != dims.end()) {
    return fmt::format("a dimension of {} is reduced twice", text(shape));
  }
  return dims;
}

std::variant<SymbolicShape, std::string> reduce(const SymbolicShape &shape,
                                                std::span<const int64_t> dims, bool keepdim) {
  SymbolicShape out;
  for (size_t i = 0; i < shape.size(); ++i) {
    auto negative = static_cast<int64_t>(i) - static_cast<int64_t>(shape.size());
    bool reduced = dims.empty() || std::find(dims.begin(), dims.end(), negative) != dims.end();
    if (!reduced) {
      out.push_back(shape[i]);
    } else if (keepdim) {
      if (shape[i].isRest()) {
        return fmt::format("keepdim of a full reduction needs a known rank, but {} has '...'",
                           text(shape));
      }
      out.push_back(Dim{"", 1});
    }
  }
  return out;
}

std::variant<SymbolicShape, std::string> multiply(const SymbolicShape &a, const SymbolicShape &b) {
  auto named = [](const SymbolicShape &shape) {
    return shape.size() - (!shape.empty() && shape[0].isRest() ? 1 : 0);
  };
  if (named(a) == 0 || named(b) == 0 || (named(b) == 1 && b.size() > 1)) {
    return std::string("the contracted dimension of both operands must have a name or a size");
  }
  bool isVector = b.size() == 1;
  const Dim &left = a.back(), &right = isVector ? b.back() : b[b.size() - 2];
  if (left != right) {
    return fmt::format("the last dimension {} of the first operand must be the {} of the second, "
                       "which is {}",
                       text({left}), isVector ? "one" : "last but one", text({right}));
  }
  SymbolicShape out(a.begin(), a.end() - 1);
  if (isVector) {
    return out;
  }
  SymbolicShape batch(b.begin(), b.end() - 2);
  if (!batch.empty()) {
    bool isRow = a.size() == 1;
    if (!isRow && named(a) < 2) {
      return std::string("the rows of the first operand must have a name or a size when the second "
                         "has leading dimensions");
    }
    std::optional<SymbolicShape> joined =
        isRow ? batch : broadcast(SymbolicShape(a.begin(), a.end() - 2), batch);
    if (!joined) {
      return std::string("the leading dimensions do not broadcast");
    }
    if (!isRow) {
      joined->push_back(out.back());
    }
    out = std::move(*joined);
  }
  out.push_back(b.back());
  return out;
}

std::optional<std::vector<int64_t>> broadcastSizes(std::span<const int64_t> a,
                                                   std::span<const int64_t> b) {
  if (a.size() < b.size()) {
    std::swap(a, b);
  }
  std::vector<int64_t> out(a.begin(), a.end());
  size_t offset = a.size() - b.size();
  for (size_t i = 0; i < b.size(); ++i) {
    int64_t &left = out[offset + i];
    if (left == 1) {
      left = b[i];
    } else if (b[i] != 1 && b[i] != left) {
      return std::nullopt;
    }
  }
  return out;
}

std::vector<int64_t> broadcastSteps(std::span<const int64_t> from, std::span<const int64_t> to) {
  std::vector<int64_t> steps(to.size(), 0);
  int64_t step = 1;
  for (size_t i = from.size(); i-- > 0;) {
    steps[to.size() - from.size() + i] = from[i] == 1 ? 0 : step;
    step *= from[i];
  }
  return steps;
}

std::optional<int64_t> elementCountOf(std::span<const int64_t> sizes) {
  if (std::find(sizes.begin(), sizes.end(), 0) != sizes.end()) {
    return 0;
  }
  int64_t count = 1;
  for (int64_t size : sizes) {
    if (size < 0 || __builtin_mul_overflow(count, size, &count) || count > (int64_t{1} << 62)) {
      return std::nullopt;
    }
  }
  return count;
}

Result<std::vector<int64_t>> bind(const SymbolicShape &shape, const Binding &binding) {
  std::vector<int64_t> sizes;
  for (const Dim &dim : shape) {
    if (dim.isRest()) {
      sizes.insert(sizes.end(), binding.rest.begin(), binding.rest.end());
    } else if (dim.symbol.empty()) {
      sizes.push_back(dim.constant);
    } else if (auto found = binding.symbols.find(dim.symbol); found != binding.symbols.end()) {
      sizes.push_back(found->second);
    } else if (!isSizeName(dim.symbol)) {
      auto computed = evaluateSizes(dim.symbol, binding);
      if (!computed) {
        return computed.error();
      }
      if (computed->whole < 0) {
        return makeError("E0604",
                         fmt::format("a dimension expects a size of at least 0, but '{}' in "
                                     "{} is {} in this case",
                                     dim.symbol, text(shape), computed->whole))
            .withHelp("use larger sizes");
      }
      sizes.push_back(computed->whole);
    } else {
      return makeError("E0604",
                       fmt::format("the size of '{}' in {} is not given", dim.symbol, text(shape)))
          .withHelp(fmt::format("give '{}' a value in the case", dim.symbol));
    }
  }
  return sizes;
}

Result<Binding> bindShapes(const Operator &op, const std::vector<std::vector<int64_t>> &shapes) {
  if (shapes.size() != op.parameters.size()) {
    return makeError("E0604", fmt::format("'{}' expects {} inputs, but got {}", op.name,
                                          op.parameters.size(), shapes.size()));
  }
  Binding binding;
  bool restBound = false;
  for (size_t i = 0; i < shapes.size(); ++i) {
    const Parameter &parameter = op.parameters[i];
    if (parameter.isSize()) {
      binding.symbols[parameter.name] =
          shapes[i].empty() ? static_cast<int64_t>(parameter.value) : shapes[i][0];
      continue;
    }
    Binding tried = binding;
    bool triedRest = restBound;
    if (parameter.isScalar || unify(parameter.shape, shapes[i], tried, triedRest)) {
      binding = std::move(tried);
      restBound = triedRest;
      continue;
    }
    Binding alone;
    bool aloneRest = false;
    Diagnostic error = makeError(
        "E0604", fmt::format("input '{}' of '{}' expects the shape {}, but got {}", parameter.name,
                             op.name, text(parameter.shape), sizesText(shapes[i])));
    if (unify(parameter.shape, shapes[i], alone, aloneRest)) {
      std::string known = restBound ? "... = " + sizesText(binding.rest) : "";
      for (const auto &[symbol, value] : binding.symbols) {
        known += (known.empty() ? "" : ", ") + fmt::format("{} = {}", symbol, value);
      }
      error.note("earlier inputs say " + known);
    }
    return error;
  }
  return binding;
}

int memoryOf(const Operator &op, size_t output) {
  return output < op.outputMemory.size() ? op.outputMemory[output] : -1;
}

bool writesInputs(const Operator &op) { return !op.outputMemory.empty(); }

std::vector<std::string> symbolsOf(const Operator &op) {
  std::vector<std::string> symbols;
  for (const Parameter &parameter : op.parameters) {
    for (const Dim &dim : parameter.shape) {
      if (!dim.symbol.empty() &&
          std::find(symbols.begin(), symbols.end(), dim.symbol) == symbols.end()) {
        symbols.push_back(dim.symbol);
      }
    }
  }
  return symbols;
}

} // namespace nereid::definition
