// SPDX-License-Identifier: Apache-2.0
// Movements (operations/indices/Movement.h) in the language of bodies: those of a graph, and the
// ones that their gradients are made of. Dimensions are negative.
#pragma once

#include "lib/definition/operations/SizeAlgebra.h"

#include <functional>
#include <string>
#include <vector>

namespace nereid::definition {

/// "(N, M - 1)", "(N,)".
std::string shapeText(const SymbolicShape &shape);
/// The node, a movement; `operands` are the texts of its inputs, names.
std::string movementText(const Node &node, const Operator &op,
                         const std::vector<std::string> &operands);
std::string narrowText(const std::string &of, int64_t dim, const SizePolynomial &start,
                       const SizePolynomial &length);
std::string flipText(const std::string &of, int64_t dim);
/// Zeros in front and behind; what is negative is taken off.
std::string padText(const std::string &of, int64_t dim, const SizePolynomial &before,
                    const SizePolynomial &after);
/// Every `step`th element from `start` on, `length` of them.
std::string sliceText(const std::string &of, int64_t dim, const SizePolynomial &start,
                      const SizePolynomial &length, int64_t step);

/// Writes a line of the body; returns its name.
using NameLine = std::function<std::string(const std::string &text)>;
/// The places at which _resample reads, a tensor of integers for each that a result has; nothing
/// where how many it has depends on the sizes.
std::vector<std::string> placesRead(const Node &node, const SymbolicShape &from,
                                    const NameLine &place);
/// The node, a _resample; "" where there are no such places.
std::string resampledText(const Node &node, const SymbolicShape &from, const std::string &of,
                          const NameLine &place);

} // namespace nereid::definition
