// SPDX-License-Identifier: Apache-2.0
// Letters are labels of dimensions; so are the places that "..." covers, counted from its end.
#include "lib/definition/reader/einsum/EinsumGraph.h"

#include "lib/definition/operations/Infer.h"
#include "lib/definition/operations/View.h"

#include <fmt/format.h>

#include <algorithm>
#include <numeric>

namespace nereid::definition {
namespace {

constexpr int covered = 256;   ///< the last dimension that "..." covers; the one before has 1 more
constexpr int openRest = 4096; ///< the leading dimensions of a shape whose rank is open
constexpr int single = -1;     ///< a dimension of size 1 that no operand has

bool contains(const std::vector<int> &list, int one) {
  return std::find(list.begin(), list.end(), one) != list.end();
}

bool isOne(const Dim &dim) { return dim.symbol.empty() && dim.constant == 1; }

std::string shownLabel(int label) {
  return label < covered ? fmt::format("the letter '{}'", static_cast<char>(label))
                         : std::string("'...'");
}

Node operation(const char *name, std::vector<int> inputs) {
  Node node;
  node.op = name;
  node.inputs = std::move(inputs);
  return node;
}

} // namespace

bool EinsumGraph::Factor::has(int label) const { return contains(labels, label); }

std::optional<Diagnostic> EinsumGraph::addFactor(const EinsumTerm &term, int number) {
  const Node &node = nodes[static_cast<size_t>(number)];
  const SymbolicShape &shape = node.shape;
  const bool isOpen = !shape.empty() && shape[0].isRest();
  const size_t letters = term.letters.size();
  const bool fits =
      term.ellipsis ? shape.size() >= letters + (isOpen ? 1 : 0) && (!isOpen || *term.ellipsis == 0)
                    : shape.size() == letters && !isOpen;
  if (!fits) {
    std::string written = term.letters;
    written.insert(term.ellipsis.value_or(0), term.ellipsis ? "..." : "");
    Diagnostic error =
        makeError("E0604", fmt::format("'einsum' expects a shape for \"{}\", but '{}' has {}",
                                       written, shownName(node), text(shape)));
    return error.withHelp(isOpen ? "begin with '...', which stands for the leading dimensions"
                                 : "write one letter for each dimension, or '...' for several");
  }
  Factor factor{number, {}};
  const size_t count = shape.size() - letters;
  for (size_t at = 0; at <= letters; ++at) {
    for (size_t i = 0; i < count && term.ellipsis == at; ++i) {
      const bool isRest = isOpen && i == 0;
      factor.labels.push_back(isRest ? openRest : covered + static_cast<int>(count - 1 - i));
    }
    if (at < letters) {
      factor.labels.push_back(term.letters[at]);
    }
  }
  factors.push_back(std::move(factor));
  return std::nullopt;
}

/// A dimension has one size in all operands, or is 1 in some of them.
std::optional<Diagnostic> EinsumGraph::checkSizes() {
  std::map<int, std::pair<Dim, int>> sizes;
  std::optional<int> belowRest;
  int mostCovered = 0;
  for (const Factor &factor : factors) {
    const Node &node = nodes[static_cast<size_t>(factor.node)];
    int count = 0;
    for (size_t i = 0; i < factor.labels.size(); ++i) {
      const int label = factor.labels[i];
      count += label >= covered && label < openRest ? 1 : 0;
      auto [known, isNew] = sizes.emplace(label, std::pair{node.shape[i], factor.node});
      if (isNew || known->second.first == node.shape[i] || isOne(node.shape[i])) {
        continue;
      }
      if (!isOne(known->second.first)) {
        return makeError("E0604",
                         fmt::format("{} of 'einsum' is {} in '{}', but {} in '{}'",
                                     shownLabel(label), text({known->second.first}),
                                     shownName(nodes[static_cast<size_t>(known->second.second)]),
                                     text({node.shape[i]}), shownName(node)))
            .withHelp("give them the same name or size, or different letters");
      }
      known->second = {node.shape[i], factor.node};
    }
    mostCovered = std::max(mostCovered, count);
    if (factor.has(openRest)) {
      belowRest = belowRest.value_or(count) == count ? count : -1;
    }
  }
  if (belowRest && *belowRest < mostCovered) {
    return makeError("E0604", "'...' of 'einsum' covers dimensions that may or may not be among "
                              "those of an operand whose rank is open")
        .withHelp("give all operands '...' in the same place of their shapes");
  }
  ones.assign(factors.size(), {});
  for (size_t f = 0; f < factors.size(); ++f) {
    const SymbolicShape &shape = nodes[static_cast<size_t>(factors[f].node)].shape;
    for (size_t i = 0; i < shape.size(); ++i) {
      if (isOne(shape[i]) && !isOne(sizes[factors[f].labels[i]].first)) {
        ones[f].push_back(factors[f].labels[i]);
      }
    }
  }
  return std::nullopt;
}

std::optional<Diagnostic> EinsumGraph::prepare(const EinsumEquation &equation,
                                               const std::vector<int> &inputs) {
  for (size_t i = 0; i < inputs.size(); ++i) {
    if (auto error = addFactor(equation.operands[i], inputs[i])) {
      return error;
    }
  }
  if (auto error = checkSizes()) {
    return error;
  }
  Labels rest;
  for (const Factor &factor : factors) {
    std::copy_if(factor.labels.begin(), factor.labels.end(), std::back_inserter(rest),
                 [&](int label) { return label >= covered && !contains(rest, label); });
  }
  std::sort(rest.rbegin(), rest.rend());
  const EinsumTerm &term = equation.result;
  for (size_t at = 0; at <= term.letters.size(); ++at) {
    if (term.ellipsis == at) {
      result.insert(result.end(), rest.begin(), rest.end());
    }
    if (at < term.letters.size()) {
      result.push_back(term.letters[at]);
    }
  }
  if (contains(rest, openRest) && (result.empty() || result[0] != openRest)) {
    return makeError("E0604", "the result of 'einsum' expects '...' in front where an operand's "
                              "rank is open")
        .withHelp("begin the result with '...', or give every dimension a name or a size");
  }
  return std::nullopt;
}

/// By the result or by operands from `behind` on.
bool EinsumGraph::isNeeded(int label, size_t behind) const {
  return contains(result, label) ||
         std::any_of(factors.begin() + static_cast<std::ptrdiff_t>(behind), factors.end(),
                     [&](const Factor &factor) { return factor.has(label); });
}

/// As the result has them; what it does not have comes last. An open rank can only lead.
EinsumGraph::Labels EinsumGraph::ordered(Labels labels) const {
  std::stable_sort(labels.begin(), labels.end(), [&](int a, int b) {
    auto place = [&](int label) { return std::find(result.begin(), result.end(), label); };
    return place(a) < place(b);
  });
  return labels;
}

std::optional<EinsumGraph::Factor> EinsumGraph::summed(const Factor &factor, const Labels &labels) {
  Node node = operation("sum", {factor.node});
  node.attributes["keepdim"] = false;
  std::vector<int64_t> dims;
  Factor left;
  const auto rank = static_cast<int64_t>(factor.labels.size());
  for (int64_t i = 0; i < rank; ++i) {
    const int label = factor.labels[static_cast<size_t>(i)];
    if (contains(labels, label)) {
      dims.push_back(i - rank);
    } else {
      left.labels.push_back(label);
    }
  }
  if (dims.empty()) {
    return factor;
  }
  node.attributes["dim"] = std::move(dims);
  const std::optional<int> sum = append(std::move(node));
  left.node = sum.value_or(0);
  return sum ? std::optional(std::move(left)) : std::nullopt;
}

/// With dimensions in this order, the first of which is "...": swap by swap.
std::optional<int> EinsumGraph::swappedBehindRest(int node, const std::vector<int64_t> &order) {
  const auto rank = static_cast<int64_t>(order.size());
  std::vector<int64_t> now(order.size());
  std::iota(now.begin(), now.end(), int64_t{0});
  std::optional<int> result = node;
  for (size_t to = 1; to < order.size() && result; ++to) {
    const auto from =
        static_cast<size_t>(std::find(now.begin(), now.end(), order[to]) - now.begin());
    if (from != to) {
      result = append(trailingSwapOf(*result, static_cast<int64_t>(from) - rank,
                                     static_cast<int64_t>(to) - rank));
      std::swap(now[from], now[to]);
    }
  }
  return result;
}

/// With dimensions in this order, those that it does not have being 1; leading ones are left out.
std::optional<int> EinsumGraph::aligned(const Factor &factor, const Labels &labels) {
  std::vector<int64_t> order;
  bool isInOrder = true;
  for (int label : labels) {
    const auto found = std::find(factor.labels.begin(), factor.labels.end(), label);
    if (found != factor.labels.end()) {
      order.push_back(found - factor.labels.begin());
      isInOrder &= order.back() + 1 == static_cast<int64_t>(order.size());
    }
  }
  std::optional<int> node = factor.node;
  if (!isInOrder && factor.has(openRest)) {
    node = swappedBehindRest(*node, order);
  } else if (!isInOrder) {
    Node permuted = operation("permute", {*node});
    permuted.attributes["dims"] = std::move(order);
    node = append(std::move(permuted));
  }
  const auto first = std::find_if(labels.begin(), labels.end(),
                                  [&](int label) { return label == single || factor.has(label); });
  for (auto at = labels.end(); node && at != first;) {
    --at;
    if (!factor.has(*at)) {
      Node inserted = operation("unsqueeze", {*node});
      inserted.attributes["dim"] = static_cast<int64_t>(at - labels.end());
      node = append(std::move(inserted));
    }
  }
  return node;
}

std::optional<int> EinsumGraph::binary(const char *op, std::optional<int> a, std::optional<int> b) {
  return a && b ? append(operation(op, {*a, *b})) : std::nullopt;
}

/// Two operands as one; `behind` are those that follow.
std::optional<EinsumGraph::Factor> EinsumGraph::multiplied(Factor a, Factor b, size_t behind) {
  if (b.has(openRest) && !a.has(openRest)) {
    std::swap(a, b); // an open rank can only lead
  }
  Labels shared, batch, all = a.labels;
  for (int label : b.labels) {
    if (!a.has(label)) {
      all.push_back(label);
    } else if (isNeeded(label, behind)) {
      batch.push_back(label);
    } else {
      shared.push_back(label);
    }
  }
  if (!shared.empty()) {
    return matrixProduct(a, b, shared, ordered(batch));
  }
  all = ordered(std::move(all));
  std::optional<int> first = aligned(a, all), second = aligned(b, all);
  const std::optional<int> product = binary("mul", first, second);
  return product ? std::optional(Factor{*product, all}) : std::nullopt;
}

std::optional<EinsumGraph::Factor> EinsumGraph::matrixProduct(const Factor &a, const Factor &b,
                                                              const Labels &shared,
                                                              const Labels &batch) {
  auto only = [&](const Factor &one, const Factor &other) {
    Labels list;
    std::copy_if(one.labels.begin(), one.labels.end(), std::back_inserter(list),
                 [&](int label) { return !other.has(label); });
    return ordered(std::move(list));
  };
  Labels rows = only(a, b), columns = only(b, a), further = shared;
  const int inner = further.back();
  further.pop_back();
  if (batch.empty() && further.empty() && (columns.empty() || rows.empty())) {
    const Factor &matrix = columns.empty() ? a : b, &vector = columns.empty() ? b : a;
    Labels labels = columns.empty() ? rows : columns;
    Factor made{0, labels};
    labels.push_back(inner);
    const std::optional<int> product =
        binary("matmul", aligned(matrix, labels), aligned(vector, {inner}));
    made.node = product.value_or(0);
    return product ? std::optional(std::move(made)) : std::nullopt;
  }
  auto last = [](Labels &list) {
    const int label = list.empty() ? single : list.back();
    list.resize(list.empty() ? 0 : list.size() - 1);
    return label;
  };
  const int row = last(rows), column = last(columns);
  Labels front = batch;
  front.insert(front.end(), rows.begin(), rows.end());
  front.insert(front.end(), columns.begin(), columns.end());
  front = ordered(std::move(front));
  front.insert(front.end(), further.begin(), further.end());
  Labels left = front, right = front, product = front;
  left.insert(left.end(), {row, inner});
  right.insert(right.end(), {inner, column});
  product.insert(product.end(), {row, column});
  const std::optional<int> made = binary("matmul", aligned(a, left), aligned(b, right));
  if (!made) {
    return std::nullopt;
  }
  Labels gone = further;
  gone.push_back(single);
  return summed({*made, product}, gone);
}

std::optional<int> EinsumGraph::write() {
  std::vector<Factor> parts = factors;
  for (size_t f = 0; f < parts.size(); ++f) {
    Labels gone = ones[f];
    for (int label : parts[f].labels) {
      bool isElsewhere = contains(result, label);
      for (size_t other = 0; other < parts.size(); ++other) {
        isElsewhere |= other != f && factors[other].has(label) && !contains(ones[other], label);
      }
      if (!isElsewhere && !contains(gone, label)) {
        gone.push_back(label);
      }
    }
    std::optional<Factor> left = summed(parts[f], gone);
    if (!left) {
      return std::nullopt;
    }
    parts[f] = std::move(*left);
  }
  factors = parts;
  Factor product = parts[0];
  for (size_t f = 1; f < parts.size(); ++f) {
    std::optional<Factor> next = multiplied(std::move(product), parts[f], f + 1);
    if (!next) {
      return std::nullopt;
    }
    product = std::move(*next);
  }
  return aligned(product, result);
}

} // namespace nereid::definition
