// SPDX-License-Identifier: Apache-2.0
// What a text says of shapes, sizes, rank, types, targets, speed and precision, each with its
// place.
#pragma once

#include "lib/words/Gradients.h"
#include "lib/words/Vocabulary.h"
#include "lib/words/numbers/Axes.h"

#include <array>
#include <cstdint>
#include <optional>

namespace nereid::words {

struct ShapeFact {
  std::vector<int64_t> sizes;
  SourceRange range;
  std::string of = {}; ///< the word in front: "weight [4096, 1024]"
};
/// Names of which not all have a size in the text.
struct NamedShapeFact {
  std::vector<std::string> names;
  SourceRange range;
  std::string of = {};
};
struct SizeFact {
  std::string name;
  int64_t size;
  SourceRange range;
};
struct NumberFact {
  double value;
  SourceRange range;
};

/// A number that is none of these.
struct LooseNumber {
  double value = 0;
  std::string text;    ///< "-0.5"
  std::string before;  ///< the nearest word in front of it, but for "of", "=" and the like
  std::string unit;    ///< the word behind it: "4 bits", "64 bins"
  std::string counted; ///< what it counts, where it is one of countable sizes: "32 groups"
  /// It belongs to a name ("Gemma 2", "GPT-2") or to a list of a document ("2.").
  bool isOfName = false;
  bool isFactor = false; ///< "by a factor of 3", "by 3", "3 times", "3x"; none of speed
  SourceRange range;
};

/// How much is padded at which side, Padding.h.
struct PaddingFact {
  std::array<int64_t, 4> sides = {}; ///< left, right, top, bottom
  bool isAll = false;                ///< the same at all sides there are
  std::vector<SourceRange> numbers;
};

struct Facts {
  std::vector<ShapeFact> shapes; ///< "[8, 1024]", "8x1024", "(B, N)" whose sizes stand elsewhere
  std::vector<NamedShapeFact> namedShapes; ///< "[B, N, D]", "BxCxHxW"
  std::vector<std::string> noShapes;       ///< "[0, -3]"
  std::vector<SizeFact> sizes;             ///< "D = 512"
  std::vector<SizeFact> lengths;           ///< of the last dimension: "hidden size 4096"
  std::vector<Term> types;                 ///< each once
  std::vector<Term> castTypes;             ///< "to int8": what the result is turned into
  std::vector<Term> inputTypes;            ///< "int8 weights": of one input
  std::vector<Term> innerTypes;            ///< "fp32 accumulation", "a float64 reference"
  std::set<int> windowLines;               ///< lines that name a pooling or a convolution
  std::optional<int64_t> spatial;          ///< "3d convolution": dimensions of the window
  std::vector<Term> targets;
  std::vector<NumberFact> ranks, speedups, precisions;
  std::vector<NumberFact> peaks; ///< "60 % of peak bandwidth": parts of 100
  std::vector<LooseNumber> loose;
  std::vector<GradientFact> gradients; ///< with respect to what
  std::optional<AxesFact> axes;
  std::string equation;  ///< "ij,jk->ik" of a text that names einsum
  std::string reduction; ///< "none", "sum" or "mean" of a loss, where the text says it
  std::optional<PaddingFact> padding;
  std::optional<ShapeFact> resizedTo; ///< "resize to 224x224"
  std::optional<int64_t> tensors;     ///< "three tensors", of three and more
  std::optional<int64_t> parts;       ///< "into three parts"
  bool areLayers = false;             ///< "two linear layers"
  bool isDocument = false;            ///< of several lines
};

/// "2x2" in the line of a pooling is its window: an image is larger.
bool isWindowShape(const Facts &facts, const ShapeFact &shape);

Facts findFacts(const std::vector<Token> &tokens, const std::vector<Term> &terms);

} // namespace nereid::words
