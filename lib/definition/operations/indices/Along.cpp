// SPDX-License-Identifier: Apache-2.0
// Shapes are those of PyTorch's functions of the same names.
#include "lib/definition/operations/indices/Along.h"

#include "lib/definition/operations/Infer.h"
#include "lib/definition/operations/Shape.h"

#include <fmt/format.h>

namespace nereid::definition {

bool isAlong(const Node &node) {
  const Operation *operation = findOperation(node.op);
  const bool isSearch = node.op == "argmax" || node.op == "argmin";
  return operation && (isSearch || operation->kind == OperationKind::Scan ||
                       operation->kind == OperationKind::Sort);
}

std::optional<int64_t> dimAlong(const Node &node) {
  const std::vector<int64_t> dims = dimsOf(node);
  return dims.empty() ? std::nullopt : std::optional(dims[0]);
}

/// "topk" of "topk_indices": what a body calls.
static std::string calledName(const Node &node) {
  const OperationPair *pair = findPairOfIndices(node.op);
  return pair && pair->indices != "argmax" && pair->indices != "argmin" &&
                 pair->indices != "argsort"
             ? pair->name
             : node.op;
}

static bool isTopk(const Node &node) { return node.op.starts_with("topk"); }
static bool isOneOfLine(const Node &node) {
  return node.op.starts_with("kthvalue") || node.op.starts_with("median");
}

int64_t leastLength(const Node &node) {
  return node.op.starts_with("median") ? 1 : integerAttribute(node, "k", 0);
}

SortedPart sortedPart(const Node &node, int64_t length) {
  auto holds = [&](const char *name) {
    auto found = node.attributes.find(name);
    const bool *value =
        found == node.attributes.end() ? nullptr : std::get_if<bool>(&found->second);
    return value && *value;
  };
  const int64_t k = integerAttribute(node, "k", 0);
  if (isTopk(node)) {
    return {0, k, holds("largest")};
  }
  if (node.op.starts_with("kthvalue")) {
    return {k - 1, 1};
  }
  if (node.op.starts_with("median")) {
    return {(length - 1) / 2, 1, false, true};
  }
  return {0, length, holds("descending")};
}

static Diagnostic alongError(const std::string &message, const std::string &help) {
  return makeError("E0604", message).withHelp(help);
}

Result<SymbolicShape> alongShape(const Node &node, const Node &input) {
  const std::vector<int64_t> dims = dimsOf(node);
  const bool takesAll = node.op == "argmax" || node.op == "argmin";
  const std::string name = calledName(node);
  if (dims.size() > 1 || (dims.empty() && !takesAll)) {
    return alongError(fmt::format("'{}' expects one dimension, but got {}", name, dims.size()),
                      "dim=-1 is the last one");
  }
  auto normalised = normaliseDims(input.shape, dims);
  if (auto *problem = std::get_if<std::string>(&normalised)) {
    return alongError(fmt::format("'{}' of '{}': {}", name, shownName(input), *problem),
                      "give the dimension a name or a size, and count from the end: dim=-1 is the "
                      "last one");
  }
  if (takesAll || isOneOfLine(node)) {
    if (node.op.starts_with("kthvalue") && leastLength(node) == 0) {
      return alongError("'kthvalue' expects k of at least 1, but got 0", "k=1 is the smallest");
    }
    auto shape = reduce(input.shape, dims, keepsDim(node));
    if (auto *problem = std::get_if<std::string>(&shape)) {
      return alongError(fmt::format("'{}' of '{}': {}", name, shownName(input), *problem),
                        "name the dimension");
    }
    if (dims.empty()) {
      return std::get<SymbolicShape>(shape);
    }
    const Dim &line = input.shape[input.shape.size() + static_cast<size_t>(dims[0])];
    if (line.symbol.empty() && line.constant < leastLength(node)) {
      return alongError(fmt::format("'{}' expects lines of at least {} elements, but '{}' has {}",
                                    name, leastLength(node), shownName(input), line.constant),
                        "k counts from 1 to the length");
    }
    return std::get<SymbolicShape>(shape);
  }
  SymbolicShape shape = input.shape;
  if (isTopk(node)) {
    Dim &line = shape[shape.size() + static_cast<size_t>(dims[0])];
    if (line.symbol.empty() && line.constant < leastLength(node)) {
      return alongError(
          fmt::format("'topk' expects lines of at least k={} elements, but '{}' has {}",
                      leastLength(node), shownName(input), line.constant),
          "choose a k up to the length");
    }
    line = Dim{"", leastLength(node)};
  }
  return shape;
}

} // namespace nereid::definition
