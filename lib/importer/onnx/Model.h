// SPDX-License-Identifier: Apache-2.0
// A model as plain data: nodes in an order in which each reads what earlier ones made, and what is
// known of the values between them. readModel() makes it from an ONNX file; shapes/ completes it;
// analysis/ and body/ read it. Knows nothing of protobuf.
#pragma once

#include "lib/importer/onnx/ElementType.h"
#include "lib/support/Diagnostics.h"

#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <variant>
#include <vector>

namespace nereid::importer {

/// A size, or a name for one that a user chooses; with neither it is not known.
struct Dim {
  int64_t size = -1;
  std::string symbol;
  bool isSize() const { return size >= 0; }
  bool isKnown() const { return isSize() || !symbol.empty(); }
  bool operator==(const Dim &) const = default;
};
using Shape = std::vector<Dim>;
/// "[N, 3, ?]".
std::string text(const Shape &shape);

struct Value {
  std::string name;
  ElementType type; ///< 0 = not known
  std::optional<Shape> shape;
};

/// Elements of a tensor that are few enough to matter for shapes or as numbers of a body.
inline constexpr int64_t mostKeptElements = 4096;

struct Tensor {
  std::string name;
  ElementType type;
  std::vector<int64_t> dims;
  std::string externalFile; ///< where its elements lie, "" = in the model
  bool hasElements = false; ///< `integers` or `floats` holds them all
  std::vector<int64_t> integers;
  std::vector<double> floats; ///< the exact values
  int64_t count() const;      ///< of elements; sizes were checked when it was read
};

/// A graph of its own within an attribute, which is not read.
struct Subgraph {};

using Attribute = std::variant<int64_t, double, std::string, std::vector<int64_t>,
                               std::vector<double>, std::vector<std::string>, Tensor, Subgraph>;

struct Node {
  std::string op, domain, name;
  std::vector<std::string> inputs, outputs; ///< "" = left out
  std::map<std::string, Attribute> attributes;
  int64_t number = 0; ///< in the file, from 0

  int64_t integer(const std::string &attribute, int64_t otherwise) const;
  double real(const std::string &attribute, double otherwise) const;
  std::string word(const std::string &attribute, const std::string &otherwise) const;
  /// Null when the attribute is missing or of another kind.
  const std::vector<int64_t> *integers(const std::string &attribute) const;
  bool hasInput(size_t index) const { return index < inputs.size() && !inputs[index].empty(); }
};
/// "node 3 'conv1' (Conv)".
std::string describe(const Node &node);

struct Model {
  std::string path, producer, graphName;
  int64_t irVersion = 0;
  int64_t opset = 0; ///< of the standard operators
  std::vector<Node> nodes;
  std::vector<Value> inputs; ///< without initialisers
  std::vector<std::string> outputs;
  std::map<std::string, Tensor> initialisers;
  std::map<std::string, Tensor> computed; ///< integers that follow from sizes; found by inference
  std::map<std::string, Value> values;    ///< declared, or found by inference; all of `inputs`

  const Tensor *initialiser(const std::string &name) const;
  /// An initialiser, or what inference has computed.
  const Tensor *constant(const std::string &name) const;
  const Value *value(const std::string &name) const;
};

/// An error about a node: its place in the file is its number and name.
Diagnostic nodeError(std::string code, const Model &model, const Node &node, std::string message);

/// E0001 for a file that cannot be read, E0631 one that is no whole ONNX model, E0632 for operator
/// sets and E0633 for operators that are not known, several of them at once.
std::optional<Model> readModel(const std::string &path, Diagnostics &diags);
/// The same of the bytes of a file; `path` is for messages.
std::optional<Model> parseModel(const std::string &path, std::string_view bytes,
                                Diagnostics &diags);

} // namespace nereid::importer
