// SPDX-License-Identifier: Apache-2.0
// What templates share, see StageKernel.h.
#include "lib/generator/template/StageKernel.h"

#include "lib/generator/kernel/Printer.h"

#include <algorithm>

namespace nereid::generator {
namespace {

/// A sum of bools, or a product, is no bool.
bool isCount(const Node &node) {
  return node.dtype == DType::Bool && (node.name == "sum" || node.name == "prod");
}

} // namespace

std::optional<std::string> unsupported(const std::vector<Store> &stores, bool hasReductions) {
  for (const Store &store : stores) {
    const bool isKnown = store.monoid.empty() || store.monoid == "sum" || store.monoid == "max" ||
                         store.monoid == "min" || store.monoid == "xor";
    if (!isKnown) {
      return "accumulation of '" + store.monoid + "'";
    }
  }
  for (const Node *node : reachable(rootsOf(stores))) {
    switch (node->kind) {
    case NodeKind::Reduce:
      if (!hasReductions || isCount(*node)) {
        return "reduction '" + node->name + (hasReductions ? "' of bools" : "'");
      }
      break;
    case NodeKind::Scan:
      return "scan '" + node->name + "'";
    case NodeKind::Order:
      return "sorted line";
    case NodeKind::Random:
      return "random number";
    default:
      break;
    }
  }
  return std::nullopt;
}

std::vector<std::vector<Store>> groupsOf(const Program &program, const Stage &stage) {
  std::vector<std::vector<Store>> groups;
  for (const Store &store : stage.stores) {
    auto same = std::find_if(groups.begin(), groups.end(), [&](const std::vector<Store> &group) {
      return program.iteratorsOf(group[0]) == program.iteratorsOf(store);
    });
    if (same == groups.end()) {
      groups.emplace_back();
      same = groups.end() - 1;
    }
    same->push_back(store);
  }
  return groups;
}

KernelWriting::KernelWriting(const Program &program, const std::string &kernelName,
                             const std::vector<Store> &stores, std::vector<TileDim> dims)
    : name(kernelName), arguments(program, kernelName),
      tile(program, std::move(dims), body, arguments),
      values(program, rootsOf(stores), tile, body, arguments) {
  tile.bind();
}

StageKernel KernelWriting::take() {
  StageKernel made;
  made.tree.name = name;
  made.arguments = arguments.take();
  for (const StageArgument &argument : made.arguments) {
    made.tree.parameters.push_back({argument.name, false});
  }
  made.dims = tile.dimensions();
  for (const TileDim &dim : made.dims) {
    made.tree.parameters.push_back({dim.block, true});
  }
  made.tree.parameters.push_back({"WIDE", true});
  made.tree.body = body.take();
  made.tree.helpers = values.helpers();
  made.offsets = values.indicesWritten();
  made.usesLibdevice = values.usesLibdevice();
  return made;
}

std::string moduleText(const std::vector<StageKernel> &kernels) {
  std::string text = "import triton\nimport triton.language as tl\n";
  const bool usesLibdevice = std::any_of(kernels.begin(), kernels.end(),
                                         [](const StageKernel &one) { return one.usesLibdevice; });
  text += usesLibdevice ? "from triton.language.extra import libdevice\n" : "";
  for (const StageKernel &one : kernels) {
    text += "\n\n" + kernel::text(one.tree);
  }
  return text;
}

} // namespace nereid::generator
