// SPDX-License-Identifier: Apache-2.0
// What graphs cost whose nodes are used more than once: as many nodes as they have, not as many as
// there are ways through them. The calls are counted, so that no test takes as long as what it
// forbids, and a lowering by sizes that a copy for each way could not reach.
#include "lib/generator/lower/Lazy.h"

#include "lib/generator/launch/Table.h"
#include "lib/generator/lower/Lower.h"
#include "lib/generator/normalise/Normalise.h"
#include "unittests/generator/Making.h"

namespace nereid::generator {
namespace {

/// A tensor whose function counts its copies and its calls.
struct Counted {
  int copies = 0, calls = 0;
};
struct CountingAt {
  Counted *counted;
  const Node *value;
  CountingAt(Counted *counted, const Node *value) : counted(counted), value(value) {}
  CountingAt(const CountingAt &other) : counted(other.counted), value(other.value) {
    ++counted->copies;
  }
  const Node *operator()(const Point &) const {
    ++counted->calls;
    return value;
  }
};

TEST(Lazy, SharedOperandsAreNeitherCopiedNorAskedAnew) {
  Program program;
  Tensors make(program);
  Counted counted;
  Lazy t = make.make({4}, DType::F32, CountingAt(&counted, program.nodes.real(1, DType::F32)));
  const int copies = counted.copies;
  for (int i = 0; i < 12; ++i) { // two uses each: 2^12 ways
    t = make.cast(make.flip(make.map("add", {t, t}), 0), i % 2 == 0 ? DType::F64 : DType::F32);
  }
  EXPECT_EQ(counted.copies, copies);
  EXPECT_NE(t.at({Affine(0)}), nullptr);
  EXPECT_EQ(counted.calls, 1);
}

size_t nodesOf(int steps) {
  std::string body = "t = x\n";
  for (int i = 0; i < steps; ++i) { // what is needed three times, as a round of Philox is
    body += "t = (t * 3 + t) ^ t\n";
  }
  const definition::Operator op =
      made(body + "out = torch.cumsum(t, dim=-1)", "[inputs.x]\nshape = [\"R\", \"D\"]\n",
           "\"R\", \"D\"", "\"int64\"", "int64");
  auto program = lower(op, DType::I64);
  EXPECT_TRUE(bool(program)) << render(program.error());
  if (!program) {
    return 0;
  }
  normalise(*program);
  auto kernels = makeKernels(*program, "t");
  EXPECT_TRUE(bool(kernels)) << (kernels ? "" : render(kernels.error()));
  return program->values().size();
}

TEST(Lowering, NodesGrowWithTheGraph) {
  const size_t few = nodesOf(10), more = nodesOf(20), many = nodesOf(40);
  EXPECT_EQ(many - more, 2 * (more - few));
}

} // namespace
} // namespace nereid::generator
