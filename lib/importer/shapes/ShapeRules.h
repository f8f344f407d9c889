// SPDX-License-Identifier: Apache-2.0
// One rule for each row of operators.def, as members of a class that walks over the nodes. A rule
// sets what it can say of its node's outputs; what it cannot say stays open.
#pragma once

#include "lib/importer/onnx/Model.h"

#include <functional>

namespace nereid::importer {

class ShapeRules {
public:
  ShapeRules(Model &model, Diagnostics &diags) : model(model), diags(diags) {}
  void run();

private:
  friend struct RuleTable;
  using Integers = std::vector<int64_t>;

  // What a rule asks.
  bool has(size_t input) const { return node->hasInput(input); }
  const Value *in(size_t input) const;
  const std::optional<Shape> &shapeOf(size_t input) const;
  ElementType typeOf(size_t input) const;
  /// Elements that are known: of an initialiser, or computed from sizes.
  const Integers *knownInput(size_t input) const;
  /// An axis counted from the front; an error when there is none.
  std::optional<size_t> axisOf(int64_t axis, size_t rank);
  /// Of an attribute, or of an input in newer operator sets; nothing when neither is there.
  std::optional<Integers> list(const std::string &attribute, size_t input) const;
  bool isGiven(const std::string &attribute, size_t input) const;

  /// The same where some of them are sizes with names; others have no name, and any number.
  std::optional<Shape> sizesIn(size_t input) const;

  // What a rule answers.
  void set(size_t output, ElementType type, std::optional<Shape> shape);
  void know(Integers elements);
  void knowSizes(Shape elements);
  void fail(const std::string &message);
  std::optional<Shape> together(const Shape &a, const Shape &b);
  std::optional<Shape> broadcastOf(size_t first, size_t count);

  // Pointwise, in ShapeRules.cpp.
  void same(), sameBool(), cast(), castLike(), dropout(), broadcast(), broadcastBool(), where();
  void likeFirst(), quantize(), dequantize(), dynamicQuantize(), batchNorm(), layerNorm();
  void broadcastTo(ElementType type);
  // Reductions, products and windows, in ProductRules.cpp.
  void reduce(), argReduce(), globalPool(), matmul(), matmulInteger(), qLinearMatmul(), gemm();
  void conv(), convInteger(), convTranspose(), pool(), recurrent(), topK(), attention(), loss();
  void matrixProduct(ElementType type, size_t second = 1);
  void window(ElementType type, const Shape &image, size_t channels, Integers kernel);
  // Other arrangements of elements, in MoveRules.cpp.
  void flatten(), reshape(), squeeze(), unsqueeze(), concat(), depthToSpace(), spaceToDepth();
  void expand(), pad(), resize(), slice(), split(), tile(), transpose();
  // At places that another tensor names, and made of sizes and numbers, in PlaceRules.cpp.
  void gather(), gatherElements(), gatherNd(), affineGrid(), gridSample(), oneHot();
  void constantOfShape(), range(), shapeAsValue(), sizeOf();
  void declared();

  /// What the walk has computed, as constants of the model.
  void keepComputed();
  /// Elements of the results of arithmetic on known ones.
  void foldPointwise();

  Model &model;
  Diagnostics &diags;
  const Node *node = nullptr;
  std::map<std::string, Integers> known;
  std::map<std::string, Shape> knownSizes; ///< of which one at least has a name
  std::map<std::string, bool> isSet;
};

} // namespace nereid::importer
