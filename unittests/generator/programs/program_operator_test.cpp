// SPDX-License-Identifier: Apache-2.0
// Operators whose kernels are made of programs: which kernels their types share, what a call
// launches, and the text of their files.
#include "lib/generator/call/CallPlan.h"
#include "lib/generator/programs/ProgramText.h"
#include "lib/language/syntax/Parser.h"
#include "unittests/generator/Making.h"

#include <cstdlib>
#include <fstream>
#include <sstream>

namespace nereid::generator {
namespace {

constexpr const char *square = "[inputs.x]\nshape = [\"N\", \"M\"]\n";
constexpr const char *floats = "\"float32\", \"float16\", \"bfloat16\"";

Generation generated(const definition::Operator &op) {
  auto generation = generate(op, testChip(), nullptr);
  EXPECT_TRUE(bool(generation)) << (generation ? "" : render(generation.error()));
  return generation ? std::move(*generation) : Generation{};
}

definition::Operator turned(const std::string &dtypes = floats) {
  return made("out = x.permute(1, 0) * 2 + y",
              std::string(square) + "[inputs.y]\nshape = [\"M\", 1]\n", "\"M\", \"N\"", dtypes);
}

definition::Operator input(const std::string &name) {
  Diagnostics diags;
  auto op = definition::loadOperator(NEREID_SOURCE_DIR "/test/cli/Inputs/" + name + ".toml", diags);
  EXPECT_TRUE(op.has_value()) << diags.render();
  return op.value_or(definition::Operator{});
}

TEST(ProgramOperator, SaysWhatCallersSee) {
  const Generation generation = generated(turned());
  EXPECT_EQ(generation.called().operands.size(), 3u);
  EXPECT_EQ(generation.op().name, "t");
  EXPECT_FALSE(generation.hasReduction());
  EXPECT_EQ(generation.widestInput().name, "x");
}

TEST(ProgramOperator, TextsServeWithoutTheirConversions) {
  const std::string half = "a = tl.load(p).to(tl.float32)\nb = tl.load(q).to(tl.float32) + a\n";
  EXPECT_TRUE(isServedBy("a = tl.load(p)\nb = tl.load(q) + a\n", half));
  EXPECT_TRUE(isServedBy("a = tl.load(p).to(tl.float32)\nb = tl.load(q) + a\n", half));
  EXPECT_TRUE(isServedBy(half, half));
  EXPECT_TRUE(isServedBy("tl.store(p, a)", "tl.store(p, a.to(p.dtype.element_ty))"));
  EXPECT_FALSE(isServedBy("tl.store(p, a)", "tl.store(p, a.to(tl.int32))"));
  EXPECT_FALSE(isServedBy(half, "a = tl.load(p)\nb = tl.load(q) + a\n")) << "one more conversion";
  EXPECT_FALSE(isServedBy("a = tl.load(p)\nb = tl.load(q) - a\n", half));
  EXPECT_FALSE(isServedBy("a = tl.load(p)\n", half));
  EXPECT_FALSE(isServedBy("a = tl.load(p).to(tl.float64)\nb = tl.load(q) + a\n", half));
}

TEST(ProgramOperator, TypesThatReadAlikeShareAKernel) {
  const Generation alike = generated(turned());
  EXPECT_EQ(alike.program.kernels.size(), 1u);
  EXPECT_NE(alike.program.kernels[0].find("def t_kernel("), std::string::npos);
  EXPECT_EQ(alike.program.tables.size(), 3u);
  EXPECT_EQ(launchGroups(alike.program, alike.op()).size(), 1u);

  const Generation different =
      generated(turned("\"float32\", \"float16\", \"int32\", \"float64\""));
  std::set<std::string> functions;
  for (const auto &[dtype, table] : different.program.tables) {
    functions.insert(table.kernels[0].function);
  }
  EXPECT_TRUE(functions.contains("t_int32_kernel"));
  EXPECT_EQ(functions.size(), different.program.kernels.size());
  const auto groups = launchGroups(different.program, different.op());
  EXPECT_EQ(groups.size(), functions.size());
  EXPECT_EQ(different.program.tables.at(DType::F32).kernels[0].function,
            different.program.tables.at(DType::F16).kernels[0].function);
}

TEST(ProgramOperator, KernelsThatReadAlikeButForTheirNamesAreOne) {
  Diagnostics diags;
  auto op = definition::loadOperator(NEREID_SOURCE_DIR "/operators/indexing/unique.toml", diags);
  ASSERT_TRUE(op.has_value()) << diags.render();
  const Generation generation = generated(*op);
  std::set<std::string> texts, written, launched;
  for (const std::string &text : generation.program.kernels) {
    const size_t at = text.rfind("\ndef ") + 5, end = text.find('(', at); // behind its helpers
    written.insert(text.substr(at, end - at));
    EXPECT_TRUE(texts.insert(text.substr(end)).second) << text;
  }
  for (const auto &[dtype, table] : generation.program.tables) {
    for (const LaunchEntry &entry : table.kernels) {
      launched.insert(entry.function);
    }
  }
  EXPECT_EQ(written, launched);
  const auto functionOf = [&](DType dtype, const std::string &end) {
    for (const LaunchEntry &entry : generation.program.tables.at(dtype).kernels) {
      if (entry.function.ends_with(end)) {
        return entry.function;
      }
    }
    return std::string();
  };
  EXPECT_NE(functionOf(DType::F32, "_1_kernel"), functionOf(DType::I32, "_1_kernel"))
      << "floats are sorted otherwise";
  EXPECT_EQ(functionOf(DType::F32, "_5_kernel"), functionOf(DType::I32, "_5_kernel"))
      << "zeros of 64 bits";
}

TEST(ProgramOperator, ACallLaunchesWhatTheTableSays) {
  const Generation generation = generated(input("spread"));
  const definition::Binding binding{{{"N", 33}, {"M", 65}}, {}};
  auto plan = planCall(generation, {}, binding, DType::F16);
  ASSERT_TRUE(bool(plan)) << render(plan.error());
  ASSERT_EQ(plan->launches.size(), 2u);
  EXPECT_TRUE(parseSchedule(plan->schedule.text()).has_value()) << plan->schedule.text();
  EXPECT_GE(plan->programs(), 2);
  const LaunchPlan &vector = plan->launches[0];
  EXPECT_TRUE(vector.signature.starts_with("a_ptr=*fp16:16, doubled_ptr=*fp16:16, N=i32, "))
      << vector.signature;
  EXPECT_EQ(std::get<int>(vector.arguments[0].value), 0);
  EXPECT_EQ(std::get<int>(vector.arguments[1].value), 2);
  EXPECT_EQ(std::get<int64_t>(vector.arguments[2].value), 33);
}

TEST(ProgramOperator, AFractionBesideIntegersIsAFloat) {
  const std::string inputs = std::string(square) + "[inputs.p]\nvalue = 0.3\n";
  const Generation generation = generated(made("out = x.permute(1, 0) * p", inputs, "\"M\", \"N\"",
                                               "\"int32\", \"int8\", \"bool\"", "float32"));
  for (DType dtype : {DType::I32, DType::I8, DType::Bool}) {
    auto plan = planCall(generation, {}, {{{"N", 3}, {"M", 5}}, {}}, dtype);
    ASSERT_TRUE(bool(plan)) << render(plan.error());
    const LaunchPlan &launch = plan->launches.at(0);
    EXPECT_NE(launch.signature.find(", p=fp32, "), std::string::npos) << launch.signature;
    EXPECT_EQ(std::get<double>(launch.arguments[2].value), 0.3);
  }
}

TEST(ProgramOperator, EmptyResultsAreNotLaunched) {
  const Generation generation = generated(input("spread"));
  auto none = planCall(generation, {}, {{{"N", 0}, {"M", 65}}, {}}, DType::F32);
  ASSERT_TRUE(bool(none));
  EXPECT_TRUE(none->isEmpty());
  auto one = planCall(generation, {}, {{{"N", 4}, {"M", 0}}, {}}, DType::F32);
  ASSERT_TRUE(bool(one));
  EXPECT_EQ(one->launches.size(), 1u) << "the vector has elements";
}

TEST(ProgramOperator, RowsWithGapsAreTakenAndTurnedTensorsCopied) {
  const Generation generation = generated(turned());
  auto storage = runtime::Tensor::empty({400}, DType::F32);
  runtime::fillNormal(storage, 1);
  auto borrowed = [&](std::vector<int64_t> sizes, std::vector<int64_t> strides) {
    return runtime::Tensor::borrow(storage.data(), std::move(sizes), DType::F32,
                                   std::move(strides));
  };
  auto y = runtime::Tensor::empty({17, 1}, DType::F32);
  auto results = runtime::Tensor::empty({400}, DType::F32);
  const auto spread = runtime::Tensor::borrow(results.data(), {17, 4}, DType::F32, {6, 1});
  auto taken = planCall(generation, {}, {{borrowed({4, 17}, {20, 1}), y}}, {{spread}});
  ASSERT_TRUE(bool(taken)) << render(taken.error());
  EXPECT_TRUE(taken->contiguousCopies.empty());

  const std::vector<runtime::Tensor> inputs = {borrowed({4, 17}, {1, 4}), y};
  const std::vector<runtime::Tensor> outputs = {runtime::Tensor::empty({17, 4}, DType::F32)};
  auto plan = planCall(generation, {}, inputs, outputs);
  ASSERT_TRUE(bool(plan)) << render(plan.error());
  EXPECT_EQ(plan->contiguousCopies, (std::vector<int>{0}));
  auto arguments = argumentsOf(*plan, generation.called(), inputs, outputs);
  ASSERT_TRUE(bool(arguments));
  const auto *passed = std::get<const runtime::Tensor *>(arguments->values[0][0]);
  EXPECT_TRUE(passed->isContiguous());
  EXPECT_EQ(passed->at(18), inputs[0].at(18));
  const auto across = runtime::Tensor::borrow(results.data(), {17, 4}, DType::F32, {1, 20});
  EXPECT_EQ(planCall(generation, {}, inputs, {{across}}).error().code, "E0612");
}

TEST(ProgramOperator, ASizeMayHaveTheNameOfTheLeadingOnes) {
  const Generation generation =
      generated(parsed("[operator]\nname = \"t\"\nsummary = \"s\"\ndtypes = [\"float32\"]\n"
                       "body = \"out = torch.sum(x, dim=-2)\"\n"
                       "[inputs.x]\nshape = [\"...\", \"rest\", \"N\"]\n"
                       "[outputs.out]\nshape = [\"...\", \"N\"]\n"
                       "[performance]\ncases = [{ \"...\" = [2, 5], rest = 3, N = 4 }]\n"));
  const definition::Binding binding{{{"rest", 3}, {"N", 4}}, {2, 5}};
  EXPECT_EQ(launchSymbols(binding).at("rest"), 3);
  EXPECT_EQ(launchSymbols(binding).at("rest_all"), 10);
  EXPECT_TRUE(bool(planCall(generation, {}, binding, DType::F32)));
}

TEST(ProgramOperator, WhatCannotBeMadeIsRefused) {
  auto refused =
      generate(parsed("[operator]\nname = \"t\"\nsummary = \"s\"\ndtypes = [\"float32\"]\n"
                      "body = \"out = x * 2\"\n[inputs.x]\nshape = [\"PROCESSORS\"]\n"
                      "[outputs.out]\nshape = [\"PROCESSORS\"]\n"
                      "[performance]\ncases = [{ PROCESSORS = 4 }]\n"),
               testChip(), nullptr);
  ASSERT_FALSE(bool(refused));
  EXPECT_EQ(refused.error().code, "E0607");
  auto reserved = generate(
      made("out = grid.permute(1, 0)", "[inputs.grid]\nshape = [\"N\", \"M\"]\n", "\"M\", \"N\""),
      testChip(), nullptr);
  ASSERT_FALSE(bool(reserved));
  EXPECT_EQ(reserved.error().message, "the name 'grid' is reserved in generated files");
}

// ---- files ----

/// As in golden_test.cpp; NEREID_RENEW_GOLDEN=1 writes them anew.
void expectGolden(const std::string &name, const std::string &text) {
  const std::string path = NEREID_SOURCE_DIR "/unittests/generator/golden/programs/" + name;
  if (std::getenv("NEREID_RENEW_GOLDEN")) {
    std::ofstream(path) << text;
  }
  std::ifstream file(path);
  std::ostringstream golden;
  golden << file.rdbuf();
  EXPECT_EQ(text, golden.str()) << path;
}

TEST(ProgramGolden, FilesAreAsTheyWere) {
  for (const char *name : {"turned", "spread", "shuffled"}) {
    const Generation generation = generated(input(name));
    expectGolden(std::string(name) + ".py", writeTriton(generation));
    for (const GeneratedFile &file : writeCompanions(generation)) {
      if (file.name.ends_with("_kernel.hpp")) {
        expectGolden(std::string(name) + ".hpp", file.content);
      }
    }
  }
}

TEST(ProgramFiles, AreReadByTheLanguage) {
  for (const char *name : {"turned", "spread", "shuffled"}) {
    const Generation generation = generated(input(name));
    Diagnostics diags;
    auto module = language::parseModule("t.py", writeTriton(generation), diags);
    ASSERT_TRUE(module.has_value()) << diags.render();
    EXPECT_FALSE(diags.hasErrors()) << diags.render();
    EXPECT_EQ(module->jitFunctions().size(), generation.program.kernels.size());
  }
}

/// What the table of cases begins with: `"one element", 7, 1, 1},`.
std::string firstCase(const Generation &generation, const std::string &ending) {
  for (const GeneratedFile &file : writeFiles(generation)) {
    const size_t at = file.content.find("\"one element\"");
    if (file.name.ends_with(ending) && at != std::string::npos) {
      return file.content.substr(at, file.content.find('\n', at) - at);
    }
  }
  return "";
}

TEST(ProgramFiles, ASizeThatNoShapeHasIsItsDefaultInTests) {
  const std::string head = "[operator]\nname = \"t\"\nsummary = \"s\"\ndtypes = [\"float32\"]\n";
  const std::string tail = "[inputs.x]\nshape = [\"N\", \"M\"]\n[inputs.S]\nsize = 7\n"
                           "[outputs.out]\nshape = [\"M\", \"N\"]\n"
                           "[performance]\ncases = [{ N = 4, M = 5, S = 9 }]\n";
  for (const char *body : {"x.permute(1, 0) * 2", "x.permute(1, 0) * S"}) {
    const Generation generation =
        generated(parsed(head + "body = \"out = " + body + "\"\n" + tail));
    EXPECT_EQ(firstCase(generation, "_accuracy.cpp"), "\"one element\", 7, 1, 1},") << body;
  }
}

TEST(ProgramFiles, StayWithinTheColumnLimit) {
  for (const char *name : {"turned", "spread", "shuffled"}) {
    for (const GeneratedFile &file : writeFiles(generated(input(name)))) {
      std::istringstream lines(file.content);
      bool isTable = false;
      for (std::string line; std::getline(lines, line);) {
        isTable = line.find("clang-format off") != std::string::npos ||
                  (isTable && line.find("clang-format on") == std::string::npos);
        EXPECT_TRUE(line.size() <= 100 || isTable) << file.name << ": " << line;
      }
    }
  }
}

} // namespace
} // namespace nereid::generator
