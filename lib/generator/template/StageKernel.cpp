// SPDX-License-Identifier: Apache-2.0
// What templates share, see StageKernel.h.
#include "lib/generator/template/StageKernel.h"

#include "lib/generator/launch/Table.h"

#include "lib/generator/kernel/Printer.h"
#include "lib/generator/template/access/Contiguity.h"
#include "lib/generator/template/access/LineWalks.h"

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

namespace {

/// What the kernel touches of memory, by the dimensions of its tile.
std::vector<TileAccess> tileAccesses(const Program &program, const std::vector<Store> &stores,
                                     const std::vector<TileDim> &dims) {
  std::map<IteratorId, size_t> dimOf;
  for (size_t dim = 0; dim < dims.size(); ++dim) {
    for (IteratorId iterator : dims[dim].iterators) {
      dimOf.emplace(iterator, dim);
    }
    if (dims[dim].also) {
      dimOf.emplace(*dims[dim].also, dim);
    }
  }
  const LineWalks walks(program, stores, dims);
  std::vector<TileAccess> result;
  for (const Access &access : accessesOf(program, stores)) {
    TileAccess made;
    made.walks = walks.of(access.index);
    made.bytes = static_cast<int64_t>(sizeInBytes(access.buffer->dtype));
    made.isStore = result.size() < stores.size(); // they come first
    std::set<IteratorId> iterators;
    for (const Affine &index : *access.index) {
      index.collect(iterators);
    }
    bool isOfTile = true; // else of a smaller one beside it
    for (IteratorId iterator : iterators) {
      auto found = dimOf.find(iterator);
      isOfTile = isOfTile && found != dimOf.end();
      if (found != dimOf.end()) {
        made.dims.insert(found->second);
      }
    }
    if (!isOfTile) {
      continue;
    }
    for (const auto &[iterator, step] : stepsOf(access)) {
      auto found = dimOf.find(iterator);
      // Of packed iterators the innermost one steps with the lanes.
      const bool isInner = found != dimOf.end() && dims[found->second].iterators.back() == iterator;
      if (isInner && (step.isOne() || (-step).isOne())) {
        made.contiguous = found->second;
      }
    }
    result.push_back(std::move(made));
  }
  return result;
}

} // namespace

KernelWriting::KernelWriting(const Program &program, const std::string &kernelName,
                             const std::vector<Store> &stores, std::vector<TileDim> dims,
                             TileShare share)
    : name(kernelName), stores(stores), arguments(program, kernelName),
      place(share == TileShare::Each ? "" : arguments.names.fresh("tile")),
      tile(program, std::move(dims), body, arguments),
      values(program, rootsOf(stores), tile, body, arguments), program(program), share(share) {
  tile.bind(place);
}

void KernelWriting::bindMasks() {
  DimSet all;
  for (size_t dim = 0; dim < tile.dimensions().size(); ++dim) {
    all.insert(dim);
  }
  tile.inside(all);
}

void KernelWriting::takeOffsets(const Values &others) {
  otherOffsets.insert(otherOffsets.end(), others.indicesWritten().begin(),
                      others.indicesWritten().end());
}

void KernelWriting::storeOtherwise(const std::vector<Store> &onDevices) {
  bindMasks();
  Tile branch(tile, tile.dimensions()); // whose masks the other branch does not know
  Values others(program, rootsOf(onDevices), branch, body, arguments);
  body.when(
      constant(onDeviceName), [&] { others.store(onDevices); }, [&] { values.store(stores); });
  takeOffsets(others);
  hasOtherLoads = true;
}

kernel::Expr KernelWriting::constant(const std::string &known) {
  if (std::find(constants.begin(), constants.end(), known) == constants.end()) {
    constants.push_back(arguments.names.fresh(known));
  }
  return kernel::name(known);
}

StageKernel KernelWriting::take(const std::vector<TileDim> &others) {
  StageKernel made;
  made.tree.name = name;
  made.arguments = arguments.take();
  for (const StageArgument &argument : made.arguments) {
    made.tree.parameters.push_back({argument.name, false});
  }
  made.dims = tile.dimensions();
  made.dims.insert(made.dims.end(), others.begin(), others.end());
  for (const TileDim &dim : made.dims) {
    if (dim.form != DimForm::Point) {
      made.tree.parameters.push_back({dim.block, true});
    }
    for (const std::string &constant : {dim.group, dim.even}) {
      if (!constant.empty()) {
        made.tree.parameters.push_back({constant, true});
      }
    }
  }
  for (const std::string &constant : constants) {
    made.tree.parameters.push_back({constant, true});
  }
  made.constants = constants;
  made.tree.parameters.push_back({"WIDE", true});
  made.tree.body = body.take();
  made.tree.helpers = values.helpers();
  made.offsets = values.indicesWritten();
  made.offsets.insert(made.offsets.end(), otherOffsets.begin(), otherOffsets.end());
  made.joinsTurns = values.joinsTurns();
  made.hasOtherLoads = hasOtherLoads;
  made.usesLibdevice = values.usesLibdevice();
  made.accesses = tileAccesses(program, stores, made.dims);
  made.share = share;
  return made;
}

kernel::Expr assigned(KernelWriting &writing, const std::string &hint, const kernel::Expr &value) {
  const std::string own = writing.arguments.names.fresh(hint);
  writing.body.assign(own, value);
  return kernel::name(own);
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
