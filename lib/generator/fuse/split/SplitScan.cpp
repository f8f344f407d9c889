// SPDX-License-Identifier: Apache-2.0
// Scans in parts, see SplitScan.h.
#include "lib/generator/fuse/split/SplitScan.h"

#include "lib/generator/emit/AccessMask.h"
#include "lib/generator/fuse/split/Parts.h"
#include "lib/generator/index/NodeQueries.h"
#include "lib/generator/program/Monoids.h"
#include "lib/generator/program/Replace.h"
#include "lib/generator/template/Scan.h"
#include "lib/generator/template/access/Contiguity.h"

#include <algorithm>

namespace nereid::generator {
namespace {

/// How two values of the scan become one; null: not by an operation of the table.
const char *joiningOf(const Node &line) {
  return line.name == "sum" ? "add" : line.name == "prod" ? "mul" : nullptr;
}

bool readsAtData(const std::vector<Store> &stores) {
  const std::vector<const Node *> nodes = reachable(rootsOf(stores));
  return std::any_of(nodes.begin(), nodes.end(),
                     [](const Node *node) { return readsIndex(node->indices); });
}

class ScanSplitter {
public:
  ScanSplitter(Program &program, const std::vector<Store> &stores, const Node &line,
               IteratorId place, int64_t parts)
      : program(program), stores(stores), line(line), place(place), parts(parts),
        part(program.space.iterators.add(parts, "part")),
        extent(program.space.iterators[line.iterators[0]].extent),
        length(lengthOfPart(program, extent, parts, true)) {
    for (IteratorId iterator : orderOf(program, stores)) {
      if (iterator != place && line.free.contains(iterator)) {
        rows.push_back(iterator);
      }
    }
  }

  Split run() {
    const IteratorId within = program.space.iterators.add(length, "within");
    const NodeParts sums = save(
        program.nodes.reduce(line.name, line.dtype, {within}, {inputAt(Affine::iterator(within))}));
    const NodeParts sumsUpTo = save(scanOf(program.nodes.make(sums), part, parts));
    scanParts(sumsUpTo);
    return std::move(made);
  }

private:
  /// In the line's part, and the identity behind the line's end.
  const Node *inputAt(const Affine &within) {
    const Affine at = Affine::iterator(part) * length + within;
    const Node *input =
        program.nodes.substitute(line.inputs[0], {{line.iterators[0], at}}, program.space);
    return selectedInside(program, isBelow(program, at, extent), input, identity());
  }
  double identity() const { return findMonoid(line.name)->identity[0]; }

  /// At `at`, which runs as far as the scan does; the input is that of another iterator.
  const Node *scanOf(const Node *input, IteratorId at, const Polynomial &count) {
    const IteratorId bound = program.space.iterators.add(count, "s");
    NodeParts scan = line;
    scan.iterators = {bound};
    scan.inputs = {program.nodes.substitute(input, {{at, Affine::iterator(bound)}}, program.space)};
    scan.indices = {Affine::iterator(at)};
    return program.nodes.make(std::move(scan));
  }

  /// A stage that writes the value of each part and row; how it is read.
  NodeParts save(const Node *value) {
    std::vector<IteratorId> iterators = {part};
    iterators.insert(iterators.end(), rows.begin(), rows.end());
    NodeParts ref = partMemory(program, made, line.dtype, iterators);
    made.stages.push_back({{ref.buffer, ref.indices, value, "", nullptr}});
    return ref;
  }

  void scanParts(NodeParts before) {
    before.indices[0] = Affine::iterator(part) - 1;
    const Node *isBehind = program.nodes.map(
        "ge", DType::Bool,
        {program.nodes.index(Affine::iterator(part)), program.nodes.index(Affine(1))});
    const IteratorId within = program.space.iterators.add(length, "within");
    const Node *own = scanOf(inputAt(Affine::iterator(within)), within, length);
    const Node *joined = program.nodes.map(
        joiningOf(line), line.dtype,
        {selectedInside(program, isBehind, program.nodes.make(std::move(before)), identity()),
         own});
    program.nodes.passWord(&line, joined);
    const Affine at = Affine::iterator(part) * length + Affine::iterator(within);
    const Node *inside = isBelow(program, at, extent);
    std::map<const Node *, const Node *> done = {{&line, joined}};
    auto build = [&](NodeParts nodeParts) { return program.nodes.make(std::move(nodeParts)); };
    auto replaced = [&](const Node *node) {
      return program.nodes.substitute(program.nodes.rebuild(node, program.space, build, done),
                                      {{place, at}}, program.space);
    };
    std::vector<Store> last = stores;
    for (Store &store : last) {
      replaceIn(store, program.space, replaced, {{place, at}});
      store.guard = store.guard
                        ? program.nodes.map("logical_and", DType::Bool, {inside, store.guard})
                        : inside;
    }
    made.stages.push_back(std::move(last));
  }

  Program &program;
  const std::vector<Store> &stores;
  const Node &line;
  const IteratorId place;
  const int64_t parts;
  const IteratorId part;
  const Polynomial extent, length;
  std::vector<IteratorId> rows;
  Split made;
};

} // namespace

std::optional<Split> splitScan(Program &program, const std::vector<Store> &stores, const Node &line,
                               int64_t parts) {
  auto place = placeOf(program, stores, line);
  if (!place || line.kind != NodeKind::Scan || line.inputs.size() != 1 || !joiningOf(line) ||
      line.isReverse || line.isExclusive || readsAtData(stores)) {
    return std::nullopt;
  }
  return ScanSplitter(program, stores, line, *place, parts).run();
}

} // namespace nereid::generator
