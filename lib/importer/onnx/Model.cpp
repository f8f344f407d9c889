// SPDX-License-Identifier: Apache-2.0
#include "lib/importer/onnx/Model.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

namespace nereid::importer {
namespace {

template <class T> const T *attributeOf(const Node &node, const std::string &name) {
  auto found = node.attributes.find(name);
  return found == node.attributes.end() ? nullptr : std::get_if<T>(&found->second);
}

} // namespace

std::string text(const Shape &shape) {
  std::vector<std::string> entries;
  for (const Dim &dim : shape) {
    entries.push_back(dim.isSize()         ? std::to_string(dim.size)
                      : dim.symbol.empty() ? "?"
                                           : dim.symbol);
  }
  return fmt::format("[{}]", fmt::join(entries, ", "));
}

int64_t Tensor::count() const {
  int64_t product = 1;
  for (int64_t size : dims) {
    product *= size;
  }
  return product;
}

int64_t Node::integer(const std::string &attribute, int64_t otherwise) const {
  const int64_t *found = attributeOf<int64_t>(*this, attribute);
  return found ? *found : otherwise;
}

double Node::real(const std::string &attribute, double otherwise) const {
  const double *found = attributeOf<double>(*this, attribute);
  return found ? *found : otherwise;
}

std::string Node::word(const std::string &attribute, const std::string &otherwise) const {
  const std::string *found = attributeOf<std::string>(*this, attribute);
  return found ? *found : otherwise;
}

const std::vector<int64_t> *Node::integers(const std::string &attribute) const {
  return attributeOf<std::vector<int64_t>>(*this, attribute);
}

std::string describe(const Node &node) {
  return node.name.empty() ? fmt::format("node {} ({})", node.number, node.op)
                           : fmt::format("node {} '{}' ({})", node.number, node.name, node.op);
}

const Tensor *Model::initialiser(const std::string &name) const {
  auto found = initialisers.find(name);
  return found == initialisers.end() ? nullptr : &found->second;
}

const Tensor *Model::constant(const std::string &name) const {
  auto found = computed.find(name);
  return found == computed.end() ? initialiser(name) : &found->second;
}

const Value *Model::value(const std::string &name) const {
  auto found = values.find(name);
  return found == values.end() ? nullptr : &found->second;
}

Diagnostic nodeError(std::string code, const Model &model, const Node &node, std::string message) {
  Diagnostic error = makeError(std::move(code), describe(node) + ": " + std::move(message));
  error.file = model.path;
  return error;
}

} // namespace nereid::importer
