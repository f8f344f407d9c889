// SPDX-License-Identifier: Apache-2.0
// Schedules: whatever launch tables leave open changes no result,
// costs follow tiles, and the neighbours of a schedule are what its bottleneck asks for.
#include "lib/generator/schedules/Neighbourhood.h"

#include "lib/generator/launch/Choices.h"
#include "lib/generator/launch/Spelling.h"
#include "lib/generator/lower/Lower.h"
#include "lib/generator/normalise/Normalise.h"
#include "unittests/generator/lower/Chain.h"
#include "unittests/generator/template/Expect.h"

#include <fmt/format.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <random>
#include <set>

namespace nereid::generator {
namespace {

const std::string inputs = "[inputs.x]\nshape = [\"N\", \"K\"]\n[inputs.w]\nshape = [\"K\", "
                           "\"M\"]\n[inputs.b]\nshape = [\"M\"]\n";

LaunchTable tableOf(const definition::Operator &op, DType dtype) {
  auto program = lower(op, dtype);
  EXPECT_TRUE(bool(program));
  normalise(*program);
  auto made = makeKernels(*program, "t");
  EXPECT_TRUE(bool(made));
  return made->table;
}

LaunchTable tableOf(const std::string &body, const std::string &shape = "\"N\", \"M\"") {
  return tableOf(made(body, inputs, shape, "\"float32\""), DType::F32);
}

/// Any legal value, of those that do not make a test long.
int64_t drawn(const LaunchChoice &choice, std::mt19937 &random) {
  std::vector<int64_t> values;
  if (choice.least == 0) {
    values.push_back(0);
  }
  for (int64_t value = std::max<int64_t>(choice.least, 1);
       value <= std::min<int64_t>(choice.most, 128); value *= 2) {
    values.push_back(value);
  }
  return values[random() % values.size()];
}

struct Templates {
  const char *name, *body, *shape;
};

const Templates templates[] = {
    {"map", "out = torch.relu(x.transpose(0, 1))", "\"K\", \"N\""},
    {"rows", "out = F.softmax(x, dim=-1)", "\"N\", \"K\""},
    {"columns", "out = x - x.mean(dim=0)", "\"N\", \"K\""},
    {"all", "out = (x * x).sum()", ""},
    {"product", "out = F.gelu(x @ w + b)", "\"N\", \"M\""},
    {"attention", "out = F.softmax((x @ w) @ w.transpose(0, 1), dim=-1) @ x.transpose(0, 1)",
     "\"N\", \"N\""},
    {"scan", "out = torch.cumsum(x, dim=-1)", "\"N\", \"K\""},
    {"sort", "out = torch.sort(x, dim=-1)[0]", "\"N\", \"K\""},
};

class AnySchedule : public testing::TestWithParam<Templates> {};
INSTANTIATE_TEST_SUITE_P(All, AnySchedule, testing::ValuesIn(templates),
                         [](const auto &info) { return std::string(info.param.name); });

TEST_P(AnySchedule, IsTheReference) {
  const Templates &one = GetParam();
  if (std::string(one.name) == "attention") {
    GTEST_SKIP() << "its shapes are those of chain_test.cpp";
  }
  const Sample sample{one.body, inputs, one.shape, {{21, 33}, {33, 18}, {18}}, {21, 33, 18}};
  const definition::Operator op = made(sample.body, sample.inputs, sample.outShape, "\"float32\"");
  const LaunchTable table = tableOf(op, DType::F32);
  EXPECT_FALSE(choicesOf(table).empty());
  std::mt19937 random(5);
  for (int round = 0; round < 10; ++round) {
    RunOptions options;
    options.hasSmallBlocks = false;
    options.on = round % 2 == 0 ? RunOn::Interpreter : RunOn::Cpu;
    std::string trace;
    for (const LaunchChoice *choice : choicesOf(table)) {
      if (choice->kind != LaunchChoice::Kind::Option) {
        options.chosen[choice->name] = drawn(*choice, random);
        trace += choice->name + "=" + std::to_string(options.chosen[choice->name]) + " ";
      }
    }
    SCOPED_TRACE(trace);
    expectReference(op, sample, DType::F32, options);
  }
}

Machine chipOf(int cores, bool isDevice = false) {
  Machine chip = genericMachine();
  chip.cores = cores;
  chip.isDevice = isDevice;
  return chip;
}

ProgramCase caseOf(const LaunchTable &table, int64_t n, int64_t k, int64_t m, int64_t processors) {
  return {&table, {{"N", n}, {"K", k}, {"M", m}}, {processors}, DType::F32, 1e6};
}

Schedule rules() { return {}; }

TEST(ProgramFigures, FollowTheTiles) {
  const LaunchTable table = tableOf("out = x @ w");
  auto figures = [&](int64_t side) {
    return (*figuresOf(table, {{"N", 1024}, {"K", 1024}, {"M", 1024}}, {16},
                       {{"contract.BLOCK_M", side}, {"contract.BLOCK_N", side}}))
        .back();
  };
  const LaunchFigures small = figures(64), large = figures(128);
  EXPECT_EQ(small.programs, 256);
  EXPECT_EQ(large.programs, 64);
  EXPECT_DOUBLE_EQ(small.ownBytes, 3 * 4.0 * 1024 * 1024);
  EXPECT_DOUBLE_EQ(small.movedBytes, (16 + 16 + 1) * 4.0 * 1024 * 1024);
  EXPECT_DOUBLE_EQ(large.movedBytes, (8 + 8 + 1) * 4.0 * 1024 * 1024);
}

/// Of a line in pieces each tensor is read by the walks that need it: the statistics', which may be
/// several, and that of the stores.
TEST(ProgramFigures, OfLinesInPiecesCountTheWalksThatReadATensor) {
  const std::string two =
      "[inputs.x]\nshape = [\"N\", \"K\"]\n[inputs.g]\nshape = [\"N\", \"K\"]\n";
  auto movedBy = [&](const std::string &body, const std::string &shape) {
    const LaunchTable table = tableOf(made(body, two, shape, "\"float32\""), DType::F32);
    const auto figures =
        figuresOf(table, {{"N", 64}, {"K", 10000}}, {4}, {{"reduce.HELD", 0}, {"reduce.SPLIT", 0}});
    EXPECT_EQ(figures->size(), 1u);
    EXPECT_EQ(figures->back().role, "reduce_looped");
    return figures->back().movedBytes;
  };
  const double tensor = 4.0 * 64 * 10000, line = 4.0 * 64;
  // x in both walks; g and the result in the second one.
  EXPECT_DOUBLE_EQ(
      movedBy("out = x * torch.rsqrt((x * x).mean(-1, keepdim=True)) * g", "\"N\", \"K\""),
      4 * tensor);
  // The largest one with the sum, and the result.
  EXPECT_DOUBLE_EQ(movedBy("out = F.softmax(x, dim=-1) + g", "\"N\", \"K\""), 4 * tensor);
  // The largest one, then the sum; nothing is stored along the line.
  EXPECT_DOUBLE_EQ(
      movedBy("e = torch.exp2(x - x.amax(-1, keepdim=True))\nout = (e + g).sum(-1)", "\"N\""),
      3 * tensor + line);
  // The mean with what differs from it.
  EXPECT_DOUBLE_EQ(movedBy("out = torch.var(x, dim=-1) + g.sum(-1)", "\"N\""), 2 * tensor + line);
}

/// Figures of 16 tiles on 12 processors, of what a launch takes with this form.
std::vector<LaunchFigures> sharedBy(const std::string &form) {
  const LaunchTable table = tableOf("out = x @ w");
  auto figures = figuresOf(
      table, {{"N", 1024}, {"K", 1000}, {"M", 1024}}, {12},
      {{"contract.BLOCK_M", 256}, {"contract.BLOCK_N", 256}, {"contract.BLOCK_K", 32}, {form, 1}});
  EXPECT_TRUE(bool(figures));
  return std::move(*figures);
}

TEST(ProgramFigures, OfPersistentProgramsAreThoseOfTheirTiles) {
  const std::vector<LaunchFigures> each = sharedBy("none"),
                                   walked = sharedBy("contract.PERSISTENT");
  ASSERT_EQ(each.size(), 1u);
  ASSERT_EQ(walked.size(), 1u);
  const Machine chip = chipOf(12);
  EXPECT_EQ(each[0].programs, 16);
  EXPECT_EQ(walked[0].programs, 12);
  EXPECT_DOUBLE_EQ(walked[0].turns, each[0].turns);
  EXPECT_DOUBLE_EQ(walked[0].movedBytes, each[0].movedBytes);
  EXPECT_DOUBLE_EQ(walked[0].fetchedBytes, each[0].fetchedBytes);
  EXPECT_DOUBLE_EQ(waveFraction(each[0], chip), 16.0 / 24);
  EXPECT_DOUBLE_EQ(waveFraction(walked[0], chip), 16.0 / 24) << "four have two tiles";
}

TEST(ProgramFigures, OfStreamKAreThoseOfItsParts) {
  const std::vector<LaunchFigures> each = sharedBy("none"), dealt = sharedBy("contract.STREAM_K");
  ASSERT_EQ(dealt.size(), 3u) << "whole waves, the last one, its sums";
  const Machine chip = chipOf(12);
  EXPECT_DOUBLE_EQ(waveFraction(dealt[0], chip), 1);
  EXPECT_DOUBLE_EQ(waveFraction(dealt[1], chip), 128.0 / (11 * 12)) << "4 tiles of 32 turns";
  EXPECT_DOUBLE_EQ(waveFraction(dealt[2], chip), 4.0 / 12);
  EXPECT_DOUBLE_EQ(dealt[0].turns + dealt[1].turns, each[0].turns);
  EXPECT_DOUBLE_EQ(dealt[0].elements + dealt[1].elements, each[0].elements);
  EXPECT_LT(dealt[0].ownBytes, each[0].ownBytes);
  EXPECT_LT(costOf(dealt, chip).arithmetic, costOf(each, chip).arithmetic);
}

TEST(ProgramSchedules, RoundsAndSearchesTryOtherSharesOfTiles) {
  const LaunchTable table = tableOf("out = x @ w");
  const Schedule blocks =
      rules().choosing("contract.BLOCK_M", 256).choosing("contract.BLOCK_N", 256);
  auto proposed = [&](int64_t n, Bottleneck bottleneck, const std::string &key) {
    Diagnosis diagnosis;
    diagnosis.bottleneck = bottleneck;
    diagnosis.computeFraction = 0.4;
    const ProgramCase one = caseOf(table, n, 4096, 1024, 12);
    const auto list = Neighbourhood(one, blocks, chipOf(12), {}).all(diagnosis);
    return std::any_of(list.begin(), list.end(),
                       [&](const Neighbour &next) { return next.key == key; });
  };
  EXPECT_TRUE(proposed(1024, Bottleneck::TailWave, "contract.STREAM_K=1"));
  EXPECT_FALSE(proposed(1536, Bottleneck::TailWave, "contract.STREAM_K=1")) << "whole waves";
  EXPECT_TRUE(proposed(1024, Bottleneck::Launch, "contract.PERSISTENT=1"));
  EXPECT_FALSE(proposed(256, Bottleneck::Unknown, "contract.PERSISTENT=1")) << "as many programs";
  const std::vector<Schedule> space =
      scheduleSpace(caseOf(table, 2000, 4096, 2000, 132), chipOf(132, /*isDevice=*/true));
  for (const char *form : {"contract.PERSISTENT", "contract.STREAM_K"}) {
    EXPECT_TRUE(std::any_of(space.begin(), space.end(), [&](const Schedule &each) {
      return each.get(form, 0) == 1;
    })) << form;
  }
}

TEST(ProgramSchedules, FormsThatHaveConstantsInCommonAreShownOnce) {
  const LaunchTable table = tableOf("out = x @ w");
  const ProgramCase one = caseOf(table, 1024, 1000, 1024, 12);
  const Schedule shown = shownSchedule(
      one, rules().choosing("contract.BLOCK_M", 256).choosing("contract.STREAM_K", 1));
  std::set<std::string> names;
  for (const auto &[name, value] : shown.constants) {
    EXPECT_TRUE(names.insert(name).second) << shown.text();
  }
  EXPECT_EQ(shown.get("contract.BLOCK_M"), 256);
  EXPECT_EQ(shown.get("contract.STREAM_K"), 1);
  EXPECT_EQ(shownSchedule(one, chosenPart(one, shown)), shown);
}

TEST(ProgramSchedules, TheBottleneckAsksForChanges) {
  const LaunchTable table = tableOf("out = x @ w");
  const Machine chip = chipOf(16);
  const ProgramCase one = caseOf(table, 512, 512, 512, 16);
  auto first = [&](Bottleneck bottleneck, const Schedule &from) {
    Diagnosis diagnosis;
    diagnosis.bottleneck = bottleneck;
    diagnosis.bandwidthFraction = 0.3;
    diagnosis.computeFraction = 0.2;
    auto list = Neighbourhood(one, from, chip, {}).of(diagnosis, nullptr);
    return list.empty() ? Neighbour() : list.front();
  };
  const Neighbour larger =
      first(Bottleneck::CacheMisses,
            rules().choosing("contract.BLOCK_M", 32).choosing("contract.BLOCK_N", 32));
  EXPECT_TRUE(larger.key.starts_with("contract.BLOCK_M=") ||
              larger.key.starts_with("contract.BLOCK_N="))
      << larger.key;
  EXPECT_NE(larger.reason.find("bytes instead of"), std::string::npos) << larger.reason;
  EXPECT_GT(larger.expectedGain, 1.02);
  // 4 programs for 16 processors.
  const Schedule few = rules().choosing("contract.BLOCK_M", 256).choosing("contract.BLOCK_N", 256);
  const Neighbour smaller = first(Bottleneck::Parallelism, few);
  EXPECT_NE(smaller.reason.find("places of their waves"), std::string::npos) << smaller.reason;
  EXPECT_GT(shownSchedule(one, few).get("contract.BLOCK_M") +
                shownSchedule(one, few).get("contract.BLOCK_N"),
            shownSchedule(one, smaller.schedule).get("contract.BLOCK_M") +
                shownSchedule(one, smaller.schedule).get("contract.BLOCK_N"));
}

/// The bytes of the sentence are those that tiles move, and a kernel without loops has no turns.
TEST(ProgramSchedules, ReasonsHaveTheFiguresOfTheTiles) {
  const Machine chip = chipOf(16);
  Diagnosis diagnosis;
  diagnosis.bandwidthFraction = 0.3;
  diagnosis.computeFraction = 0.2;
  diagnosis.bottleneck = Bottleneck::CacheMisses;
  const LaunchTable product = tableOf("out = x @ w");
  const Schedule small = rules().choosing("contract.BLOCK_M", 32).choosing("contract.BLOCK_N", 32);
  const ProgramCase one = caseOf(product, 4096, 4096, 4096, 16); // beyond the caches
  auto list = Neighbourhood(one, small, chip, {}).of(diagnosis, nullptr);
  auto larger = std::find_if(list.begin(), list.end(), [](const Neighbour &each) {
    return each.key == "contract.BLOCK_M=64";
  });
  ASSERT_NE(larger, list.end());
  const double matrix = 4.0 * 4096 * 4096;
  EXPECT_EQ(larger->reason, fmt::format("tiles move {:.3g} bytes instead of {:.3g}, as they share "
                                        "fewer of them",
                                        (128 + 64 + 1) * matrix, (128 + 128 + 1) * matrix));
  diagnosis.bottleneck = Bottleneck::Latency;
  const LaunchTable map = tableOf("out = x * 2.0", "\"N\", \"K\"");
  list = Neighbourhood(caseOf(map, 4096, 4096, 4096, 16), rules(), chip, {}).of(diagnosis, nullptr);
  ASSERT_FALSE(list.empty());
  EXPECT_NE(list.front().reason.find("fewer, larger programs"), std::string::npos)
      << list.front().reason;
}

TEST(ProgramSchedules, NothingIsProposedThatTheCostsSpeakAgainst) {
  const Machine chip = chipOf(16);
  for (const Templates &each : templates) {
    SCOPED_TRACE(each.name);
    const LaunchTable table = tableOf(each.body, each.shape);
    for (int64_t size : {8, 300, 5000}) {
      for (const Bottleneck bottleneck :
           {Bottleneck::Bandwidth, Bottleneck::Latency, Bottleneck::TailWave}) {
        Diagnosis diagnosis;
        diagnosis.bottleneck = bottleneck;
        diagnosis.bandwidthFraction = 0.4;
        for (const Neighbour &next :
             Neighbourhood(caseOf(table, size, size, size, 16), rules(), chip, {})
                 .of(diagnosis, nullptr)) {
          EXPECT_GE(next.expectedGain, 1.02) << next.change;
        }
      }
    }
  }
}

TEST(ProgramSchedules, OptionsAreOfDevicesAlone) {
  const LaunchTable table = tableOf("out = x @ w");
  auto hasOption = [&](const Machine &chip) {
    const std::vector<Schedule> space = scheduleSpace(caseOf(table, 4096, 4096, 4096, 132), chip);
    return std::any_of(space.begin(), space.end(), [](const Schedule &each) {
      return each.get("contract.num_stages", -1) > 0;
    });
  };
  EXPECT_TRUE(hasOption(chipOf(132, /*isDevice=*/true)));
  EXPECT_FALSE(hasOption(chipOf(132)));
}

TEST(ProgramSchedules, APartIsWhatRulesDoNotSay) {
  const LaunchTable table = tableOf("out = x @ w");
  const ProgramCase one = caseOf(table, 512, 512, 512, 16);
  const Schedule shown = shownSchedule(one, rules().choosing("contract.BLOCK_K", 64));
  EXPECT_EQ(shown.get("contract.BLOCK_K"), 64);
  EXPECT_EQ(shown.get("contract.BLOCK_M"), 128);
  EXPECT_EQ(chosenPart(one, shown).text(), "contract.BLOCK_K=64");
  EXPECT_EQ(shownSchedule(one, chosenPart(one, shown)), shown);
}

TEST(ProgramSchedules, WrappersAskWhatWasFound) {
  const LaunchTable table = tableOf("out = x @ w");
  const LaunchTable written = withTuning(table);
  EXPECT_TRUE(written.choices.empty());
  const LaunchEntry &kernel = written.kernels.back();
  const auto valueOf = [&](const std::string &name) {
    for (const NamedExpression &one : kernel.constexprs) {
      if (one.name == name) {
        return Spelling(ExpressionLanguage::Python, {{"CHOICE_", "found"}}).text(one.value);
      }
    }
    return std::string();
  };
  EXPECT_TRUE(valueOf("BLOCK_M").starts_with("min(contract_block_m, ")) << valueOf("BLOCK_M");
  EXPECT_TRUE(valueOf("num_warps").starts_with("found.get(\"contract.num_warps\", "))
      << valueOf("num_warps");
  // Choices of several kernels are asked once, under a name of their own.
  std::set<std::string> names;
  for (const NamedExpression &one : written.derived) {
    EXPECT_TRUE(names.insert(one.name).second) << one.name;
    const std::string text =
        Spelling(ExpressionLanguage::Python, {{"CHOICE_", "found"}}).text(one.value);
    EXPECT_TRUE(one.name != "contract_block_m" ||
                text.starts_with("found.get(\"contract.BLOCK_M\", "))
        << text;
  }
  EXPECT_TRUE(names.contains("contract_split"));
  EXPECT_TRUE(names.contains("contract_block_m"));
  for (const LaunchEntry &each : written.kernels) {
    for (const LaunchChoice &choice : table.choices) {
      EXPECT_EQ(each.grid.find(choiceVariable(choice.name)), std::string::npos) << each.grid;
    }
  }
  EXPECT_EQ(Spelling(ExpressionLanguage::Cpp, {}).text("CHOICE_(\"a.B\", (64 + N))*N"),
            "tuned.get(\"a.B\", 64 + N) * N");
}

TEST(ProgramSchedules, TheNaiveStartIsLegalAndSmall) {
  for (const Templates &each : templates) {
    const LaunchTable table = tableOf(each.body, each.shape);
    const Schedule naive = naiveSchedule(table);
    for (const LaunchChoice *choice : choicesOf(table)) {
      const int64_t value = naive.get(choice->name, choice->least);
      EXPECT_GE(value, choice->least) << choice->name;
      EXPECT_LE(value, choice->most) << choice->name;
    }
  }
}

} // namespace
} // namespace nereid::generator
