// SPDX-License-Identifier: Apache-2.0
// What generated kernels compute: the forms of the shipped operators and of graphs chosen for their
// shapes, run by the interpreter (out-of-bounds and uninitialised reads are errors there) and
// compiled for this CPU, both held against the float64 reference of the operator's graph.
#include "lib/definition/cases/CaseGrid.h"
#include "lib/definition/cases/OtherNumbers.h"
#include "lib/definition/operations/Shape.h"
#include "lib/eager/reference/Reference.h"
#include "lib/generator/Generator.h"
#include "lib/generator/call/CallPlan.h"
#include "lib/generator/launch/Choices.h"
#include "lib/pipeline/Compiler.h"
#include "lib/support/AtomicFile.h"
#include "lib/targets/Targets.h"
#include "unittests/ShippedOperators.h"

#include <gtest/gtest.h>

#include <unistd.h>

#include <algorithm>
#include <filesystem>

namespace nereid::generator {
namespace {

using definition::GridCase;
using definition::Operator;

class GeneratedKernels : public testing::Test {
protected:
  GeneratedKernels()
      : path(testing::TempDir() + "/nereid_generated_" + std::to_string(::getpid()) + ".py") {
    static const bool isRegistered = (registerTargets(), true);
    (void)isRegistered;
  }
  ~GeneratedKernels() override { std::filesystem::remove(path); }

  /// Writes the operator's source, from which launches are made.
  bool prepare(const Operator &op) {
    auto made = generate(op, genericMachine(), nullptr);
    EXPECT_TRUE(bool(made)) << (made ? "" : render(made.error()));
    if (!made) {
      return false;
    }
    generation = std::move(*made);
    source = writeTriton(generation);
    EXPECT_TRUE(bool(writeFileAtomically(path, source)));
    return true;
  }

  /// Number of launches made.
  int checkOperator(const Operator &op, const std::vector<GridCase> &grid) {
    if (!prepare(op)) {
      return 0;
    }
    int launches = 0;
    for (const GridCase &one : grid) {
      for (DType dtype : op.dtypes) {
        for (const Schedule &schedule : schedules(dtype)) {
          launches += checkLaunch(one, dtype, schedule);
          if (HasFatalFailure() || testing::Test::HasFailure()) {
            return launches;
          }
        }
      }
    }
    return launches;
  }

  /// By rule, and with blocks so small that every case has several, inner and edge ones; lines
  /// whole and in pieces.
  std::vector<Schedule> schedules(DType dtype) const {
    const LaunchTable &table = generation.program.tables.at(dtype);
    Schedule small;
    auto shrink = [&](const std::vector<LaunchChoice> &choices) {
      for (const LaunchChoice &choice : choices) {
        if (choice.kind == LaunchChoice::Kind::Block) {
          const int64_t wanted = choice.constant == "BLOCK_X" ? 2 : 16;
          small.constants.emplace_back(choice.name, std::clamp(wanted, choice.least, choice.most));
        }
      }
    };
    shrink(table.choices); // of several kernels
    for (const LaunchEntry &kernel : table.kernels) {
      shrink(kernel.choices);
    }
    Schedule pieces = small;
    for (const LaunchChoice &choice : table.choices) {
      if (choice.kind == LaunchChoice::Kind::Held) {
        pieces.constants.emplace_back(choice.name, choice.least);
      }
    }
    std::vector<Schedule> list = {{}, small};
    if (pieces != small) {
      list.push_back(pieces);
    }
    return list;
  }

  int checkLaunch(const GridCase &one, DType dtype, const Schedule &schedule) {
    const Operator &op = generation.op();
    auto laid = definition::makeInputs(op, one, dtype);
    EXPECT_TRUE(bool(laid));
    std::vector<runtime::Tensor> all, inputs, outputs;
    for (size_t i = 0; i < laid->size(); ++i) {
      all.push_back((*laid)[i].view);
      if (!op.parameters[i].isScalar) {
        inputs.push_back((*laid)[i].view);
      }
    }
    auto shapes = outputShapes(generation.called(), one.binding);
    EXPECT_TRUE(bool(shapes));
    for (const Operand &operand : generation.called().operands) {
      if (operand.isOutput) {
        outputs.push_back(runtime::Tensor::empty((*shapes)[static_cast<size_t>(operand.index)],
                                                 operandType(operand, dtype)));
      }
    }
    std::string what =
        op.name + ", " + one.name + ", " + std::string(torchName(dtype)) + ", " + schedule.text();
    Generation numbered = generation;
    numbered.interface.op = definition::withNumbers(op, one.numbers);
    auto plan = planCall(numbered, schedule, inputs, outputs);
    EXPECT_TRUE(bool(plan)) << what << "\n" << (plan ? "" : render(plan.error()));
    if (!plan || plan->isEmpty()) {
      return 0;
    }
    // The 64-bit form, which only tensors beyond 2^31 elements ask for, computes the same.
    CallPlan wide = *plan;
    for (LaunchPlan &launch : wide.launches) {
      launch.signature.replace(launch.signature.find("WIDE=0"), 6, "WIDE=1");
    }
    auto each = [&](const std::string &how, const CallPlan &call, auto launch) {
      for (const runtime::Tensor &output : outputs) {
        output.poison();
      }
      auto arguments = argumentsOf(call, numbered.called(), inputs, outputs);
      ASSERT_TRUE(bool(arguments));
      for (size_t i = 0; i < call.launches.size(); ++i) {
        launch(call.launches[i], arguments->values[i]);
      }
      expectAgreement(what + how, all, outputs, dtype);
    };
    const auto interpret = [&](const LaunchPlan &launch, const auto &values) {
      interpretLaunch(launch, values, what);
    };
    each(", interpreted", *plan, interpret);
    each(", wide", wide, interpret);
    each(", compiled", *plan, [&](const LaunchPlan &launch, const auto &values) {
      launchCompiled(launch, values, what);
    });
    return 1;
  }

  pipeline::CompileInput inputOf(const LaunchPlan &plan) const {
    pipeline::CompileInput input;
    input.path = path;
    input.function = plan.function;
    input.signature = plan.signature;
    return input;
  }
  void interpretLaunch(const LaunchPlan &plan, std::span<const runtime::ArgumentValue> values,
                       const std::string &what) {
    Diagnostics diags;
    EXPECT_TRUE(pipeline::interpretKernel(inputOf(plan), plan.grid, values, diags))
        << what << "\n"
        << plan.signature << "\n"
        << diags.render() << source;
  }
  void launchCompiled(const LaunchPlan &plan, std::span<const runtime::ArgumentValue> values,
                      const std::string &what) {
    Diagnostics diags;
    pipeline::CompileOptions options;
    options.useCache = false;
    auto kernel = pipeline::compileKernel(inputOf(plan), options, diags);
    ASSERT_TRUE(kernel.has_value()) << what << "\n" << diags.render() << source;
    auto problem = runtime::launch(*kernel, plan.grid, values, runtime::defaultPool());
    EXPECT_FALSE(problem) << what << ": " << problem.message;
  }
  void expectAgreement(const std::string &what, const std::vector<runtime::Tensor> &inputs,
                       const std::vector<runtime::Tensor> &outputs, DType dtype) {
    auto agreement = eager::checkOutputs(generation.op(), inputs, outputs, dtype,
                                         eager::Rounding::OncePerResult, runtime::defaultPool());
    ASSERT_TRUE(bool(agreement)) << what << render(agreement.error());
    EXPECT_TRUE(agreement->passed())
        << what << ": element " << agreement->first.index << " is " << agreement->first.actual
        << ", expected " << agreement->first.expected << " ± " << agreement->first.bound << "; "
        << agreement->mismatches << " of " << agreement->elements << " differ\n"
        << source;
  }

  /// The grid's cases that the interpreter gets through quickly.
  static std::vector<GridCase> smallGrid(const Operator &op) {
    std::vector<GridCase> cases;
    for (const GridCase &one : definition::accuracyGrid(op, 1)) {
      if (elementsOf(op, one) <= 4000) {
        cases.push_back(one);
      }
    }
    return cases;
  }
  /// Of the largest tensor.
  static int64_t elementsOf(const Operator &op, const GridCase &one) {
    int64_t most = 0;
    for (const Operand &operand : calledOperator(op).operands) {
      int64_t elements = 1;
      const auto sizes = definition::bind(operand.shape, one.binding);
      EXPECT_TRUE(bool(sizes));
      for (int64_t size : *sizes) {
        elements *= size;
      }
      most = std::max(most, elements);
    }
    return most;
  }

  static Operator parsed(const std::string &body, const std::string &inputs,
                         const std::string &outShape, const std::string &sizes,
                         const std::string &dtypes = "\"float32\"") {
    Diagnostics diags;
    auto op = definition::parseOperator("test.toml",
                                        "[operator]\nname = \"t\"\nsummary = \"s\"\ndtypes = [" +
                                            dtypes + "]\nbody = \"\"\"\n" + body + "\n\"\"\"\n" +
                                            inputs + "\n[outputs.out]\nshape = [" + outShape +
                                            "]\n[performance]\ncases = [{ " + sizes + " }]\n",
                                        diags);
    EXPECT_TRUE(op.has_value()) << diags.render();
    return op.value_or(Operator{});
  }

  std::string path, source;
  Generation generation;
};

class ShippedKernels : public GeneratedKernels, public testing::WithParamInterface<std::string> {};
INSTANTIATE_TEST_SUITE_P(All, ShippedKernels, testing::ValuesIn(sampledOperators()),
                         [](const auto &info) { return info.param; });

TEST_P(ShippedKernels, AgreeWithTheReferenceOnTheSmallGrid) {
  Diagnostics diags;
  auto op = definition::loadOperator(shippedPath(GetParam()), diags);
  ASSERT_TRUE(op.has_value()) << diags.render();
  EXPECT_GE(checkOperator(*op, smallGrid(*op)), 20);
}

TEST_P(ShippedKernels, AgreeWithTheReferenceFromTheNaiveStart) {
  Diagnostics diags;
  auto op = definition::loadOperator(shippedPath(GetParam()), diags);
  ASSERT_TRUE(op.has_value()) << diags.render();
  ASSERT_TRUE(prepare(*op));
  const std::vector<GridCase> grid = smallGrid(*op);
  const GridCase &largest =
      *std::max_element(grid.begin(), grid.end(), [&](const GridCase &a, const GridCase &b) {
        return elementsOf(*op, a) < elementsOf(*op, b);
      });
  for (DType dtype : op->dtypes) {
    EXPECT_EQ(checkLaunch(largest, dtype, naiveSchedule(generation.program.tables.at(dtype))), 1);
  }
}

struct Graph {
  const char *name, *body, *inputs, *outShape, *sizes;
};

const char *const inputX = "[inputs.x]\nshape = [\"R\", \"D\"]\n";
const char *const sizesRD = "R = 5, D = 37";

const Graph graphs[] = {
    {"flat", "out = x * torch.tanh(y) + 0.5",
     "[inputs.x]\nshape = [\"R\", \"D\"]\n[inputs.y]\n"
     "shape = [\"R\", \"D\"]\n",
     "\"R\", \"D\"", sizesRD},
    {"one_dimension", "out = -x", "[inputs.x]\nshape = [\"N\"]\n", "\"N\"", "N = 100"},
    {"channels_first", "out = (x - m) * s",
     "[inputs.x]\nshape = [\"N\", \"C\", \"H\", \"W\"]\n"
     "[inputs.m]\nshape = [\"C\", 1, 1]\n[inputs.s]\nshape = [\"C\", 1, 1]\n",
     "\"N\", \"C\", \"H\", \"W\"", "N = 2, C = 3, H = 3, W = 7"},
    {"outer_sum", "out = a + b", "[inputs.a]\nshape = [\"R\", 1]\n[inputs.b]\nshape = [\"D\"]\n",
     "\"R\", \"D\"", sizesRD},
    {"middle_missing", "out = a * b",
     "[inputs.a]\nshape = [\"A\", 1, \"C\", \"D\"]\n[inputs.b]\n"
     "shape = [\"B\", 1, \"D\"]\n",
     "\"A\", \"B\", \"C\", \"D\"", "A = 2, B = 3, C = 4, D = 5"},
    {"scalar_tensor", "out = x * a + 1.0",
     "[inputs.x]\nshape = [\"R\", \"D\"]\n[inputs.a]\n"
     "shape = []\n",
     "\"R\", \"D\"", sizesRD},
    {"library_softmax", "out = F.softmax(x, dim=-1)", inputX, "\"R\", \"D\"", sizesRD},
    {"log_softmax", "out = F.log_softmax(x, dim=-1)", inputX, "\"R\", \"D\"", sizesRD},
    {"logsumexp", "out = torch.logsumexp(x, dim=-1)", inputX, "\"R\"", sizesRD},
    {"row_maximum", "out = torch.amax(x, dim=-1)", inputX, "\"R\"", sizesRD},
    {"row_minimum", "out = x - torch.amin(x, dim=-1, keepdim=True)", inputX, "\"R\", \"D\"",
     sizesRD},
    {"row_variance", "out = torch.var(x, dim=-1, keepdim=True)", inputX, "\"R\", 1", sizesRD},
    {"mean_without_dimension", "out = torch.mean(x, dim=-1) + b",
     "[inputs.x]\nshape = [\"R\", \"D\"]\n[inputs.b]\nshape = [\"R\"]\n", "\"R\"", sizesRD},
    {"two_reduced_dimensions", "m = torch.mean(x, dim=(-2, -1), keepdim=True)\nout = (x - m) * w",
     "[inputs.x]\nshape = [\"N\", \"H\", \"W\"]\n[inputs.w]\nshape = [\"W\"]\n",
     "\"N\", \"H\", \"W\"", "N = 3, H = 4, W = 7"},
    {"swapped_behind_open_rank", "out = x.mT * 2 + y",
     "[inputs.x]\nshape = [\"...\", \"H\", \"W\"]\n[inputs.y]\nshape = [\"W\", \"H\"]\n",
     "\"...\", \"W\", \"H\"", "\"...\" = [2, 3], H = 4, W = 7"},
    {"rows_swapped_behind_open_rank", "out = torch.softmax(x.transpose(-3, -1), dim=-1)",
     "[inputs.x]\nshape = [\"...\", \"H\", \"W\", \"C\"]\n", "\"...\", \"C\", \"W\", \"H\"",
     "\"...\" = [2], H = 5, W = 3, C = 4"},
    {"everything_reduced", "out = torch.sum(x * x)", inputX, "", sizesRD},
    {"rms_norm", "out = F.rms_norm(x, (D,), w)",
     "[inputs.x]\nshape = [\"R\", \"D\"]\n[inputs.w]\n"
     "shape = [\"D\"]\n",
     "\"R\", \"D\"", sizesRD},
    {"clamped", "out = torch.clamp(x, -0.5, 0.75) + torch.maximum(x, y)",
     "[inputs.x]\nshape = [\"R\", \"D\"]\n[inputs.y]\nshape = [\"D\"]\n", "\"R\", \"D\"", sizesRD},
    {"selected",
     "out = torch.where((x > y) & (x < 1.0), F.silu(x), F.gelu(y, "
     "approximate=\"tanh\"))",
     "[inputs.x]\nshape = [\"R\", \"D\"]\n[inputs.y]\nshape = [\"D\"]\n", "\"R\", \"D\"", sizesRD},
};

class ChosenGraphs : public GeneratedKernels, public testing::WithParamInterface<Graph> {};
INSTANTIATE_TEST_SUITE_P(All, ChosenGraphs, testing::ValuesIn(graphs),
                         [](const auto &info) { return std::string(info.param.name); });

TEST_P(ChosenGraphs, AgreeWithTheReference) {
  const Graph &graph = GetParam();
  Operator op = parsed(graph.body, graph.inputs, graph.outShape, graph.sizes,
                       "\"float32\", \"float16\", \"float64\"");
  ASSERT_FALSE(op.nodes.empty());
  std::vector<GridCase> grid;
  for (definition::DataKind data : {definition::DataKind::Normal, definition::DataKind::Special}) {
    for (definition::LayoutKind layout :
         {definition::LayoutKind::Contiguous, definition::LayoutKind::OuterStride}) {
      GridCase one;
      one.name = std::string(definition::name(data)) + " " + std::string(definition::name(layout));
      one.binding = op.performanceCases[0].binding;
      one.data = {data};
      one.layout = layout;
      one.seed = 7;
      grid.push_back(one);
    }
  }
  EXPECT_GE(checkOperator(op, grid), 12);
}

/// The check itself must be able to fail: a kernel with one wrong sign does.
TEST_F(GeneratedKernels, AWrongKernelIsFound) {
  Operator op = parsed("out = x + y",
                       "[inputs.x]\nshape = [\"R\", \"D\"]\n[inputs.y]\nshape = "
                       "[\"D\"]\n",
                       "\"R\", \"D\"", sizesRD);
  Operator wrong = op;
  wrong.nodes[static_cast<size_t>(op.outputs[0])].op = "sub";
  ASSERT_TRUE(prepare(wrong));
  GridCase one;
  one.binding = op.performanceCases[0].binding;
  auto laid = definition::makeInputs(op, one, DType::F32);
  ASSERT_TRUE(bool(laid));
  std::vector<runtime::Tensor> inputs = {(*laid)[0].view, (*laid)[1].view};
  std::vector<runtime::Tensor> outputs = {runtime::Tensor::empty({5, 37}, DType::F32)};
  auto plan = planCall(generation, {}, inputs, outputs);
  ASSERT_TRUE(bool(plan));
  interpretLaunch(plan->launches.at(0),
                  argumentsOf(*plan, generation.called(), inputs, outputs)->values[0],
                  "wrong sign");
  auto agreement = eager::checkOutputs(op, inputs, outputs, DType::F32,
                                       eager::Rounding::OncePerResult, runtime::defaultPool());
  ASSERT_TRUE(bool(agreement));
  EXPECT_FALSE(agreement->passed());
}

} // namespace
} // namespace nereid::generator
