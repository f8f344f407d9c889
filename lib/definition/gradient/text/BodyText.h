// SPDX-License-Identifier: Apache-2.0
// One operation of a graph as an expression of the language that bodies are written in.
#pragma once

#include "lib/definition/Graph.h"

#include <map>
#include <set>
#include <string>
#include <vector>

namespace nereid::definition {

/// "x + y", "torch.sum(x, dim=(-1,), keepdim=True)"; `operands` are the texts of the node's inputs.
std::string expressionText(const Node &node, const Operator &op,
                           const std::vector<std::string> &operands);
/// A constant, a size or a number parameter as an operand.
std::string numberText(const Node &node);
/// The text with each of its names that `names` has replaced by the text there.
std::string withNames(const std::string &text, const std::map<std::string, std::string> &names);
/// amax or amin as the values of max or min along a dimension: of equal elements one was selected.
bool isSelection(const Node &node);
/// PyTorch's function takes one dimension, and no tuple of them.
bool takesOneDim(const Node &node);
/// The names in a text, without attributes and names of arguments.
std::set<std::string> namesIn(const std::string &text);
/// "-2, -1" as a tuple of Python: "(-2, -1)", "(-1,)".
std::string tupleText(const std::vector<std::string> &entries);

} // namespace nereid::definition
