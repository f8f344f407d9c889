// SPDX-License-Identifier: Apache-2.0
// Chains in parts, see SplitChain.h.
#include "lib/generator/fuse/split/SplitChain.h"

#include "lib/generator/fuse/split/Parts.h"
#include "lib/generator/program/Replace.h"

namespace nereid::generator {
namespace {

class Splitting {
public:
  Splitting(Program &program, const ProductChain &chain, int64_t count)
      : program(program), chain(chain), part(program.space.iterators.add(count, "part")),
        joined(program.space.iterators.add(count, "part")) {}

  ChainParts run(std::vector<Store> stores) {
    const Node *acc = left(chain.outer.reduce), *top = left(chain.top), *total = left(chain.total);
    made.split.stages.push_back(std::move(parts));
    const Node *most = program.nodes.reduce("max", DType::F32, {joined}, {top});
    const Node *away = program.nodes.map("sub", DType::F32, {top, most});
    const Node *shrink = program.nodes.map("exp", DType::F32, {away});
    const Node *out =
        program.nodes.map("div", DType::F32, {sumOf(acc, shrink), sumOf(total, shrink)});
    replaceIn(stores, program, {{chain.outer.reduce, out}});
    made.split.stages.push_back(std::move(stores));
    made.part = part;
    return std::move(made);
  }

private:
  /// What the parts leave of the value, read in the part that is joined.
  const Node *left(const Node *value) {
    std::vector<IteratorId> iterators = {part};
    iterators.insert(iterators.end(), value->free.begin(), value->free.end());
    NodeParts ref = partMemory(program, made.split, DType::F32, iterators);
    parts.push_back({ref.buffer, ref.indices, value, "", nullptr});
    ref.indices[0] = Affine::iterator(joined);
    return program.nodes.make(std::move(ref));
  }

  const Node *sumOf(const Node *value, const Node *shrink) {
    const Node *term = program.nodes.map("mul", DType::F32, {value, shrink});
    return program.nodes.reduce("sum", DType::F32, {joined}, {term});
  }

  Program &program;
  const ProductChain &chain;
  const IteratorId part, joined;
  std::vector<Store> parts;
  ChainParts made;
};

} // namespace

ChainParts splitChain(Program &program, const std::vector<Store> &stores, const ProductChain &chain,
                      int64_t parts) {
  return Splitting(program, chain, parts).run(stores);
}

} // namespace nereid::generator
