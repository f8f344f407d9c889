// SPDX-License-Identifier: Apache-2.0
// Programs that write into their inputs: they compute what the same program computes into memory of
// its own, keep the laws, and take a copy only where an element may be read behind its store.
#include "lib/generator/lower/InPlace.h"
#include "lib/generator/lower/Lower.h"
#include "lib/generator/normalise/Normalise.h"
#include "lib/generator/program/Evaluate.h"
#include "lib/generator/program/Verify.h"
#include "unittests/generator/Making.h"

#include <cmath>

namespace nereid::generator {
namespace {

constexpr int64_t size = 5;

/// a, b: [N, N]; row: [N]; places: int64 [N]; out: [N, N], and `more`.
definition::Operator operatorOf(const std::string &body, const std::string &more = "") {
  return parsed("[operator]\nname = \"t\"\nsummary = \"s\"\ndtypes = [\"float32\"]\nbody = "
                "\"\"\"\n" +
                body +
                "\n\"\"\"\n[inputs.a]\nshape = [\"N\", \"N\"]\n[inputs.b]\nshape = [\"N\", \"N\"]\n"
                "[inputs.row]\nshape = [\"N\"]\n[inputs.places]\nshape = [\"N\"]\ndtype = "
                "\"int64\"\nrange = [0, \"N\"]\n[outputs.out]\nshape = [\"N\", \"N\"]\n" +
                more + "[performance]\ncases = [{ N = 4 }]\n");
}

EvaluationInput data() {
  EvaluationInput input;
  input.sizes = {size};
  for (const char *name : {"a", "b"}) {
    for (int64_t i = 0; i < size * size; ++i) {
      input.memory[name].push_back(std::floor(100 * std::sin(static_cast<double>(i) + *name)));
    }
  }
  for (int64_t i = 0; i < size; ++i) {
    input.memory["row"].push_back(static_cast<double>(3 * i - 4));
    input.memory["places"].push_back(static_cast<double>(i * i % size));
  }
  return input;
}

using Memory = std::map<std::string, std::vector<double>>;

Memory run(const Program &program) {
  auto memory = evaluate(program, data());
  EXPECT_TRUE(bool(memory)) << (memory ? "" : memory.error().message) << print(program);
  return memory ? *memory : Memory();
}

struct InPlace {
  bool hasCopy = false;
  size_t stages = 0;
};

/// Compares with the lowered program before, whose outputs have memory of their own.
InPlace placed(const definition::Operator &op) {
  auto program = lower(op, DType::F32);
  EXPECT_TRUE(bool(program)) << (program ? "" : program.error().message);
  if (!program) {
    return {};
  }
  const Memory apart = run(*program);
  writeInPlace(*program, op);
  for (const bool isNormal : {false, true}) {
    if (isNormal) {
      normalise(*program);
    }
    const Status laws = verify(*program);
    EXPECT_TRUE(bool(laws)) << (laws ? "" : laws.error().message) << print(*program);
    const Memory memory = run(*program);
    std::set<std::string> written;
    for (size_t i = 0; i < op.outputs.size(); ++i) {
      const int input = definition::memoryOf(op, i);
      const std::string name =
          input < 0 ? op.outputNames[i] : op.parameters[static_cast<size_t>(input)].name;
      EXPECT_EQ(memory.at(name), apart.at(op.outputNames[i])) << op.body << print(*program);
      written.insert(name);
    }
    for (const auto &[name, elements] : data().memory) {
      EXPECT_TRUE(written.contains(name) || memory.at(name) == elements) << name << op.body;
    }
  }
  return {print(*program).find("_before") != std::string::npos, program->stages.size()};
}

TEST(InPlacePrograms, ReadWhereTheyWrite) {
  for (const char *body :
       {"out = a.add_(b)", "out = a.mul_(2).sub_(b)", "a += row\nout = a", "out = a.zero_()",
        "out = a.copy_(b)", "out = a.copy_(row)", "out = a.copy_(b.t())",
        "out = a.masked_fill_(a > b, 7)", "out = a.index_add_(0, places, b)",
        "out = a.index_put_((places,), b, accumulate=True)", "out = a.addmm_(b, b)",
        "out = a.index_put_((places,), row)", "out = a.index_put_((places,), b)"}) {
    EXPECT_FALSE(placed(operatorOf(body)).hasCopy) << body;
  }
}

TEST(InPlacePrograms, MoveNothingButWhatIndicesLeadTo) {
  for (const char *body :
       {"out = a.index_add_(0, places, b)", "out = a.index_put_((places,), b)",
        "a[places] = 0\nout = a", "out = a.index_put_((places,), b, accumulate=True)"}) {
    EXPECT_EQ(placed(operatorOf(body)).stages, 1u) << body;
  }
}

TEST(InPlacePrograms, CopyWhatIsReadBehindItsStore) {
  for (const char *body :
       {"out = a.copy_(a.t())", "out = a.add_(a.t())", "out = a.copy_(torch.flip(a, (0,)))",
        "out = a.sub_(a.sum(dim=-1, keepdim=True))", "out = a.copy_(torch.softmax(a, dim=-1))",
        "out = a.addmm_(a, b)", "out = a.index_add_(0, places, a)", "out = a.cumsum_(0)",
        "out = a.index_put_((places,), a[0])", "a[places] = a[places] * 2\nout = a"}) {
    EXPECT_TRUE(placed(operatorOf(body)).hasCopy) << body;
  }
}

TEST(InPlacePrograms, SeveralOutputs) {
  const std::string other = "[outputs.other]\nshape = [\"N\", \"N\"]\n";
  const std::string line = "[outputs.other]\nshape = [\"N\"]\n";
  EXPECT_FALSE(
      placed(operatorOf("t = a * 1\na.copy_(b)\nb.copy_(t)\nout = a\nother = b", other)).hasCopy);
  EXPECT_FALSE(
      placed(operatorOf("b.mul_(0.5).add_(a)\na -= 2 * b\nout = a\nother = b", other)).hasCopy);
  EXPECT_FALSE(placed(operatorOf("other = a * 3\nout = a.add_(b)", other)).hasCopy);
  // What another kernel reads of the input may come behind the store.
  placed(operatorOf("other = a.sum(dim=0)\nout = a.add_(b)", line));
  placed(operatorOf("out = a.add_(b)\nother = a.sum(dim=0)", line));
  placed(operatorOf("t = a * 2\nout = a.add_(b)\nother = (t + a).sum(dim=0)", line));
  placed(operatorOf("row.add_(1)\nother = row\nout = a + row", line));
  placed(operatorOf("a.index_add_(0, places, b)\nout = a\nother = a.sum(dim=0)", line));
  EXPECT_TRUE(placed(operatorOf("t = a.t() + 1\nout = a.zero_()\nother = t * 2", other)).hasCopy);
}

} // namespace
} // namespace nereid::generator
