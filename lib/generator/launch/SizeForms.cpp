// SPDX-License-Identifier: Apache-2.0
// Values chosen by sizes, see SizeForms.h.
#include "lib/generator/launch/SizeForms.h"

#include "lib/generator/emit/AccessMask.h"
#include "lib/generator/index/NodeQueries.h"
#include "lib/generator/program/Replace.h"
#include "lib/generator/template/Blocks.h"

#include <fmt/format.h>

#include <algorithm>

namespace nereid::generator {
namespace {

/// Nodes that one side has alone from which on another kernel is worth its text.
constexpr int64_t fewestApart = 64;
/// Conditions one within the other that forms are made of: four of them at most.
constexpr int deepest = 2;

bool isWhere(const Node *node) { return isMap(*node, "where"); }

/// A size, or a number, as text of the launch table.
std::optional<std::string> sizeText(const Node *node, const Program &program) {
  const bool isLong = node->dtype == DType::I64;
  if (isLong && node->kind == NodeKind::Index && node->indices[0].isConstant()) {
    return "(" + launchText(node->indices[0].constant(), program) + ")";
  }
  return isLong && node->kind == NodeKind::Const ? std::optional(std::to_string(node->integer))
                                                 : std::nullopt;
}

std::optional<std::string> conditionText(const Node *node, const Program &program) {
  static const std::map<std::string, std::string> signs = {
      {"lt", "<"}, {"le", "<="}, {"gt", ">"}, {"ge", ">="}};
  auto sign = node->kind == NodeKind::Map ? signs.find(node->name) : signs.end();
  if (sign == signs.end()) {
    return std::nullopt;
  }
  const auto a = sizeText(node->inputs[0], program), b = sizeText(node->inputs[1], program);
  return a && b ? std::optional(fmt::format("{} {} {}", *a, sign->second, *b)) : std::nullopt;
}

/// Nodes that one of both needs alone.
int64_t countApart(const Node *a, const Node *b) {
  const std::vector<const Node *> ofA = reachable({a}), ofB = reachable({b});
  const std::set<const Node *> inA(ofA.begin(), ofA.end()), inB(ofB.begin(), ofB.end());
  auto apart = [](const std::set<const Node *> &own, const std::set<const Node *> &other) {
    return std::count_if(own.begin(), own.end(),
                         [&](const Node *node) { return !other.contains(node); });
  };
  return apart(inA, inB) + apart(inB, inA);
}

/// The stores where the condition has this value.
std::vector<Store> sideOf(Program &program, std::vector<Store> stores, const Node *condition,
                          bool holds) {
  auto build = [&](NodeParts parts) { return program.nodes.make(std::move(parts)); };
  std::map<const Node *, const Node *> done;
  auto replaced = [&](const Node *node) {
    return program.nodes.rebuild(node, program.space, build, done);
  };
  for (const Node *node : reachable(rootsOf(stores))) { // what others use first
    if (isWhere(node) && node->inputs[0] == condition) {
      const Node *side = replaced(node->inputs[holds ? 1 : 2]);
      program.nodes.passWord(node, side);
      done[node] = side;
    }
  }
  for (Store &store : stores) {
    replaceIn(store, program.space, replaced);
  }
  return stores;
}

/// Adds the forms of stores that are launched where `condition` holds; further choices are left to
/// the kernel when `depth` is 0.
void addForms(Program &program, const std::vector<Store> &stores, const std::string &condition,
              int depth, std::vector<SizeForm> &forms) {
  std::vector<const Node *> nodes = reachable(rootsOf(stores));
  std::reverse(nodes.begin(), nodes.end()); // a choice before those among its values
  for (const Node *node : nodes) {
    const auto text = depth > 0 && isWhere(node) ? conditionText(node->inputs[0], program)
                                                 : std::optional<std::string>();
    if (text && countApart(node->inputs[1], node->inputs[2]) >= fewestApart) {
      const Node *chosenBy = node->inputs[0];
      const std::string around = condition.empty() ? "" : "(" + condition + ")*";
      addForms(program, sideOf(program, stores, chosenBy, true), around + "(" + *text + ")",
               depth - 1, forms);
      addForms(program, sideOf(program, stores, chosenBy, false),
               around + fmt::format("(1 - ({}))", *text), depth - 1, forms);
      return;
    }
  }
  const size_t number = forms.size();
  forms.push_back({stores,
                   number == 0   ? ""
                   : number == 1 ? "_otherwise"
                                 : fmt::format("_otherwise_{}", number),
                   condition});
}

} // namespace

std::vector<SizeForm> sizeFormsOf(Program &program, const std::vector<Store> &stores) {
  std::vector<SizeForm> forms;
  addForms(program, stores, "", deepest, forms);
  return forms;
}

} // namespace nereid::generator
