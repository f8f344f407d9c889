// SPDX-License-Identifier: Apache-2.0
// Abstract evaluation of masked lanes, see LaneAnalysis.h.
#include "lib/generator/LaneAnalysis.h"

#include "lib/generator/KernelTypes.h"

#include <algorithm>

namespace nereid::generator {
namespace {

std::vector<int> usersOf(const FusedOperator &fused, int node) {
  std::vector<int> users;
  for (size_t i = 0; i < fused.nodes.size(); ++i) {
    const std::vector<int> &inputs = fused.nodes[i].inputs;
    if (std::find(inputs.begin(), inputs.end(), node) != inputs.end()) {
      users.push_back(static_cast<int>(i));
    }
  }
  return users;
}

bool isOutput(const FusedOperator &fused, int node) {
  return std::find(fused.outputNodes.begin(), fused.outputNodes.end(), node) !=
         fused.outputNodes.end();
}

Lane laneOf(const FusedOperator &fused, int number, const std::vector<Lane> &lanes) {
  const FusedNode &node = fused.nodes[static_cast<size_t>(number)];
  auto in = [&](size_t i) { return lanes[static_cast<size_t>(node.inputs[i])]; };
  if (node.op == "input") {
    // What a row has one of is loaded without a mask, and may be an infinity: 0 times that is NaN.
    const bool isOfRow = node.extent == Extent::Column || node.extent == Extent::Scalar;
    return isOfRow ? Lane::Anything : loadLane(fused, number);
  }
  if (node.op == "exp" && in(0) == Lane::NegativeInfinity) {
    return Lane::Zero;
  }
  if (node.op == "mul" && in(0) == Lane::Zero && in(1) == Lane::Zero) {
    return Lane::Zero;
  }
  if (node.op == "sub" && in(0) == Lane::NegativeInfinity) {
    // -inf minus a row's maximum stays -inf, except where the maximum is -inf or NaN: there the
    // row's own lanes are NaN as well and the sum does not change by another one.
    const FusedNode &right = fused.nodes[static_cast<size_t>(node.inputs[1])];
    if (right.op == "amax" && right.inputs[0] == node.inputs[0]) {
      return Lane::NegativeInfinity;
    }
  }
  return Lane::Anything;
}

} // namespace

Lane identityOf(const std::string &reduction) {
  return reduction == "amax"   ? Lane::NegativeInfinity
         : reduction == "amin" ? Lane::PositiveInfinity
                               : Lane::Zero;
}

Lane loadLane(const FusedOperator &fused, int node) {
  if (!areAllFloat(fused.nodes[static_cast<size_t>(node)].types)) {
    return Lane::Zero; // integers have no infinities
  }
  for (int user : usersOf(fused, node)) {
    const FusedNode &value = fused.nodes[static_cast<size_t>(user)];
    if (value.isReduction) {
      return identityOf(value.op);
    }
  }
  return Lane::Zero;
}

std::vector<Lane> analyseLanes(const FusedOperator &fused) {
  std::vector<Lane> lanes;
  for (size_t i = 0; i < fused.nodes.size(); ++i) {
    lanes.push_back(laneOf(fused, static_cast<int>(i), lanes));
  }
  return lanes;
}

bool hasNanCovered(const FusedOperator &fused, int amax) {
  auto op = [&](int node) -> const std::string & {
    return fused.nodes[static_cast<size_t>(node)].op;
  };
  auto input = [&](int node, size_t i) { return fused.nodes[static_cast<size_t>(node)].inputs[i]; };
  if (isOutput(fused, amax)) {
    return false;
  }
  // amax -> shifted = x - amax -> powers = exp(shifted) -> total = sum(powers) -> every output.
  for (int shifted : usersOf(fused, amax)) {
    if (op(shifted) != "sub" || input(shifted, 1) != amax || input(shifted, 0) != input(amax, 0) ||
        isOutput(fused, shifted)) {
      return false;
    }
    int total = -1;
    for (int powers : usersOf(fused, shifted)) {
      if (op(powers) != "exp") {
        continue;
      }
      for (int user : usersOf(fused, powers)) {
        total = op(user) == "sum" ? user : total;
      }
      for (int user : usersOf(fused, powers)) {
        if (user != total && !(op(user) == "div" && input(user, 1) == total)) {
          return false;
        }
      }
      if (isOutput(fused, powers)) {
        return false;
      }
    }
    for (int user : usersOf(fused, shifted)) {
      bool isLogForm =
          op(user) == "sub" && op(input(user, 1)) == "log" && input(input(user, 1), 0) == total;
      if (total < 0 || (op(user) != "exp" && !isLogForm)) {
        return false;
      }
    }
  }
  return true;
}

bool isSumOfShiftedPowers(const FusedOperator &fused, int node) {
  auto at = [&](int i) -> const FusedNode & { return fused.nodes[static_cast<size_t>(i)]; };
  if (at(node).op != "sum" || at(at(node).inputs[0]).op != "exp") {
    return false;
  }
  const FusedNode &shifted = at(at(at(node).inputs[0]).inputs[0]);
  return shifted.op == "sub" && at(shifted.inputs[1]).op == "amax" &&
         at(shifted.inputs[1]).inputs[0] == shifted.inputs[0];
}

} // namespace nereid::generator
