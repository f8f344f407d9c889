// SPDX-License-Identifier: Apache-2.0
// What each node of a model moves and computes, and how long that should take on a chip: a launch
// for each node, by the model of lib/document/CostModel.h. Nothing of it is measured.
#pragma once

#include "lib/definition/Graph.h"
#include "lib/importer/onnx/Model.h"
#include "lib/importer/operators/OperatorTable.h"
#include "lib/machine/Machine.h"

#include <optional>
#include <vector>

namespace nereid::importer {

struct NodeCost {
  OperatorKind kind = OperatorKind::Free;
  DType type = DType::F32; ///< of the arithmetic
  definition::Work work;   ///< each input read once, each output written once
  double elements = 0;     ///< of the first output
  double memorySeconds = 0, arithmeticSeconds = 0, seconds = 0;
  bool isMemoryBound() const { return memorySeconds >= arithmeticSeconds; }
};

/// Elements of a value whose shape is known in numbers; nothing otherwise.
std::optional<double> elementsOf(const Model &model, const std::string &value);
/// Bytes of a value, 0 where they are not known.
double bytesOf(const Model &model, const std::string &value);

/// By the number of the node in `model.nodes`. E0634 where a shape that is needed is not known.
std::vector<NodeCost> countCosts(const Model &model, Diagnostics &diags);

/// The chip as the launches of a model see it, one behind the other: between two uses of a tensor
/// come others, so that everything is moved at the memory's rate.
Machine chipOfModels(Machine chip);

/// Seconds of one launch that does this work; `isProduct`: by matrix instructions, if the chip has
/// them for the type.
struct LaunchSeconds {
  double memory = 0, arithmetic = 0, whole = 0;
};
LaunchSeconds launchSeconds(const Machine &chip, const definition::Work &work, DType type,
                            bool isProduct);
/// Adds the times on the chip.
void addSeconds(const Machine &chip, std::vector<NodeCost> &costs);

} // namespace nereid::importer
