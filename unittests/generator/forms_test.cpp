// SPDX-License-Identifier: Apache-2.0
// The forms that a mode chose: in the manifest, and what wrapper and launcher make of them. The
// launcher obeys them in unittests/develop.
#include "unittests/generator/Making.h"

#include "lib/generator/CompanionWriter.h"
#include "lib/generator/EagerText.h"
#include "lib/generator/InterfaceCheck.h"
#include "lib/generator/Manifest.h"
#include "lib/generator/Project.h"
#include "lib/language/syntax/Parser.h"

#include <filesystem>
#include <unistd.h>

namespace nereid::generator {
namespace {

bool contains(const std::string &text, const std::string &part) {
  return text.find(part) != std::string::npos;
}

Generation generated(const definition::Operator &op, Form form) {
  auto generation = generate(op, testChip(), nullptr);
  EXPECT_TRUE(bool(generation));
  generation->table.setForm(generation->table.entries.front().caseClass, form);
  return std::move(*generation);
}

TEST(Forms, AreOfTheScheduleThatWasTimed) {
  ScheduleTable table = generated(shipped("softmax"), Form::Graph).table;
  const auto [sizes, schedule, origin, form] = table.entries.front();
  EXPECT_EQ(form, Form::Graph);
  table.set(sizes, schedule, "round 1");
  EXPECT_EQ(table.find(sizes)->form, Form::Graph);
  table.set(sizes, schedule.choosing("reduce.BLOCK_X", 2), "round 2");
  EXPECT_EQ(table.find(sizes)->form, Form::Unasked);
  EXPECT_FALSE(table.hasForm(Form::Graph));
  for (Form one : {Form::Unasked, Form::Launches, Form::Graph, Form::Eager}) {
    EXPECT_EQ(parseForm(formName(one)), one);
  }
  EXPECT_FALSE(parseForm("quick").has_value());
}

TEST(Forms, ReadBackFromTheManifest) {
  Manifest manifest;
  manifest.table = generated(shipped("softmax"), Form::Eager).table;
  const std::string text = manifestText(manifest);
  auto read = readManifest("nereid.json", text);
  ASSERT_TRUE(bool(read)) << render(read.error());
  EXPECT_EQ(read->table.forms(), manifest.table.forms());
  EXPECT_EQ(manifestText(*read), text);
  std::string damaged = text;
  damaged.replace(damaged.find("\"eager\""), 7, "\"quick\"");
  EXPECT_EQ(readManifest("nereid.json", damaged).error().code, "E0611");
}

TEST(Forms, WithoutAModeTheFileKnowsNone) {
  const std::string text = writeTriton(generated(shipped("softmax"), Form::Unasked));
  EXPECT_FALSE(contains(text, "FORMS"));
  EXPECT_FALSE(contains(text, "_eager"));
}

/// The wrapper makes the same launches: a graph needs tensors that stay, the C++ launcher's.
TEST(Forms, CompiledOnesAreNoOtherWrapper) {
  const std::string text = writeTriton(generated(shipped("softmax"), Form::Unasked));
  for (const auto &[form, name] :
       {std::pair(Form::Launches, "\"launches\""), std::pair(Form::Graph, "\"graph\"")}) {
    const std::string other = writeTriton(generated(shipped("softmax"), form));
    const size_t table = other.find("# What --mode chose"), end = other.find("}\n\n", table) + 3;
    ASSERT_NE(table, std::string::npos) << other;
    EXPECT_TRUE(contains(other.substr(table, end - table), name)) << other;
    EXPECT_EQ(other.substr(0, table) + other.substr(end), text);
  }
}

class EagerForms : public testing::TestWithParam<std::string> {};
INSTANTIATE_TEST_SUITE_P(All, EagerForms, testing::ValuesIn(sampledOperators()),
                         [](const auto &info) { return info.param; });

/// All that is checked of wrappers holds for those that have an eager form, too.
TEST_P(EagerForms, LeaveTheInterfaceAsItIs) {
  const definition::Operator op = shipped(GetParam());
  const Generation generation = generated(op, Form::Eager);
  const std::string folder =
      testing::TempDir() + "/nereid_forms_" + op.name + "_" + std::to_string(::getpid());
  auto project = Project::create(folder, op, "text");
  ASSERT_TRUE(bool(project)) << render(project.error());
  ASSERT_TRUE(bool(project->writeFiles(writeFiles(generation))));
  Diagnostics diags;
  EXPECT_TRUE(checkInterfaces(folder, generation, diags).agrees) << diags.render();
  const std::string text = writeTriton(generation);
  EXPECT_TRUE(contains(text, " = _eager("));
  (void)language::parseStatements("t.py", text, diags);
  EXPECT_FALSE(diags.hasErrors()) << diags.render();
  std::filesystem::remove_all(folder);
}

TEST(Forms, TheEagerFormIsTheBody) {
  const definition::Operator op =
      made("a = gelu(x)\nout = torch.where(a > 0, a, y.exp())", inputXY, "\"...\", \"D\"");
  const std::string text = writeTriton(generated(op, Form::Eager));
  EXPECT_TRUE(contains(text, R"(def _eager(x, y):
    """The definition by PyTorch's own operations."""
    D = x.shape[-1]
    a = F.gelu(x)
    out = torch.where(a > 0, a, y.exp())
    return out.to(x.dtype)
)")) << text;
  EXPECT_TRUE(contains(text, R"(    if FORMS.get(sizes) == "eager":
        out = _eager(x, y)
        return _returned(out, out_given)
)")) << text;
}

TEST(Forms, TheLauncherTakesTheGraphAndTheHostsOperations) {
  const definition::Operator op = made("out = x + y", inputXY, "\"...\", \"D\"");
  const std::string none = writeKernelHeader(generated(op, Form::Unasked));
  EXPECT_TRUE(contains(none, "  this->takeForm(tuned.form());\n")) << none;
  EXPECT_FALSE(contains(none, "t_eager"));
  EXPECT_EQ(writeKernelHeader(generated(op, Form::Graph)), none);
  const std::string eager = writeKernelHeader(generated(op, Form::Eager));
  EXPECT_TRUE(contains(eager, "  this->takeForm(tuned.form());\n")) << eager;
  EXPECT_TRUE(contains(eager, R"(  if (x.isOnHost() && found.form() == "eager") {
    return t_eager(x, y);
  }
)")) << eager;
}

TEST(Forms, FunctionsAreWherePyTorchHasThem) {
  EXPECT_EQ(withModules("a = torch.gelu(x) + exp (F.sigmoid(x))"),
            "a = F.gelu(x) + torch.exp (torch.sigmoid(x))");
  // Python's own max and sum are others.
  EXPECT_EQ(withModules("m, i = max(x, dim=-1) + sum(x) * flip(roll(x, 1, 0), [0])"),
            "m, i = torch.max(x, dim=-1) + torch.sum(x) * torch.flip(torch.roll(x, 1, 0), [0])");
  EXPECT_EQ(withModules("for i in range(3): y = mine(x)"), "for i in range(3): y = mine(x)");
  EXPECT_EQ(withModules("a = torch.nn.functional.silu(x.sum(-1)) * math.sqrt(2.0)"),
            "a = F.silu(x.sum(-1)) * math.sqrt(2.0)");
  EXPECT_EQ(withModules("b = (x + 1).abs() - float(\"-inf\") * 1e-5 * torch.special.expm1(x)"),
            "b = (x + 1).abs() - float(\"-inf\") * 1e-5 * torch.special.expm1(x)");
}

TEST(Forms, BodiesMeanInPyTorchWhatDefinitionsMean) {
  auto body = [](const std::string &text) {
    const CalledOperator called =
        calledOperator(made(text, "[inputs.x]\nshape = [\"...\", \"D\"]\n", "\"...\", \"D\""));
    std::string lines = eagerHelpers(called).empty() ? "" : "helper\n";
    for (const std::string &line : eagerBody(called)) {
      lines += line + "\n";
    }
    return lines + eagerResults(called).front();
  };
  // Numbers where PyTorch takes tensors alone.
  EXPECT_EQ(body("out = torch.maximum(x, 0.25)"),
            "helper\nD = x.shape[-1]\nout = _of_tensors(torch.maximum, x, 0.25)\nout.to(x.dtype)");
  EXPECT_EQ(body("out = torch.maximum(x, x + 1)"),
            "D = x.shape[-1]\nout = torch.maximum(x, x + 1)\nout.to(x.dtype)");
  // PyTorch would take the type's epsilon.
  EXPECT_EQ(body("out = F.rms_norm(x, [D]) + F.rms_norm(x, [D], eps=1e-3)"),
            "D = x.shape[-1]\nout = F.rms_norm(x, [D], eps=1e-06) + F.rms_norm(x, [D], eps=1e-3)\n"
            "out.to(x.dtype)");
}

TEST(Forms, ResultsHaveTheTypeOfTheFirstInputOfTheOperatorsOwn) {
  const CalledOperator called = calledOperator(
      made("out = x.masked_fill(mask, 0.0)",
           "[inputs.mask]\nshape = [\"...\", \"D\"]\ndtype = \"bool\"\n[inputs.x]\nshape = "
           "[\"...\", \"D\"]\n",
           "\"...\", \"D\""));
  EXPECT_EQ(eagerResults(called), std::vector<std::string>{"out.to(x.dtype)"});
}

} // namespace
} // namespace nereid::generator
