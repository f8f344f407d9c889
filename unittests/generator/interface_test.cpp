// SPDX-License-Identifier: Apache-2.0
// The interface check: edits of every class are found in every file that has them, and what means
// the same is none.
#include "unittests/generator/Making.h"

#include "lib/generator/InterfaceCheck.h"
#include "lib/generator/Project.h"
#include "lib/support/AtomicFile.h"

#include <filesystem>
#include <unistd.h>

namespace nereid::generator {
namespace {

bool contains(const std::string &text, const std::string &part) {
  return text.find(part) != std::string::npos;
}

std::string replaced(std::string text, const std::string &from, const std::string &to,
                     bool isEverywhere = false) {
  size_t at = text.find(from);
  EXPECT_NE(at, std::string::npos) << "no '" << from << "' in\n" << text;
  while (at != std::string::npos) {
    text.replace(at, from.size(), to);
    at = isEverywhere ? text.find(from, at + to.size()) : std::string::npos;
  }
  return text;
}

std::string withoutLinesOf(const std::string &text, const std::vector<std::string> &parts) {
  std::string result;
  std::istringstream lines(text);
  for (std::string line; std::getline(lines, line);) {
    bool isDropped = false;
    for (const std::string &part : parts) {
      isDropped |= contains(line, part);
    }
    result += isDropped ? "" : line + "\n";
  }
  return result;
}

/// A folder with the files of an operator, one of which a test edits.
class Folder {
public:
  explicit Folder(const std::string &name, Language language = Language::Cpp) : op(shipped(name)) {
    auto made = generate(op, testChip(), nullptr);
    EXPECT_TRUE(bool(made));
    generation = std::move(*made);
    generation.language = language;
    folder = testing::TempDir() + "/nereid_interface_" + name + "_" + std::to_string(::getpid());
    std::filesystem::remove_all(folder);
    auto project = Project::create(folder, op, "text");
    EXPECT_TRUE(bool(project)) << render(project.error());
    EXPECT_TRUE(bool(project->writeFiles(writeFiles(generation))));
  }
  ~Folder() { std::filesystem::remove_all(folder); }

  std::string path(const std::string &suffix) const { return folder + "/" + op.name + suffix; }
  std::string text(const std::string &suffix) const { return *readTextFile(path(suffix)); }
  void write(const std::string &suffix, const std::string &content) const {
    ASSERT_TRUE(bool(writeFileAtomically(path(suffix), content)));
  }
  InterfaceReport check() {
    diags = Diagnostics();
    return checkInterfaces(folder, generation, diags);
  }

  definition::Operator op;
  Generation generation;
  std::string folder;
  Diagnostics diags;
};

class LayerNorm : public testing::Test {
protected:
  LayerNorm() : folder("layer_norm") {}

  /// One diagnostic: E0610 at a line of the file that has `place`, with both values.
  void expectRefused(const std::string &suffix, const std::string &edited, const std::string &place,
                     const std::string &wanted, const std::string &got) {
    folder.write(suffix, edited);
    InterfaceReport report = folder.check();
    EXPECT_FALSE(report.agrees);
    ASSERT_EQ(folder.diags.all().size(), 1u) << folder.diags.render();
    const Diagnostic &error = folder.diags.all()[0];
    EXPECT_EQ(error.code, "E0610");
    EXPECT_EQ(error.file, folder.path(suffix));
    EXPECT_TRUE(contains(error.lineText, place)) << render(error);
    EXPECT_TRUE(contains(error.message, wanted)) << render(error);
    EXPECT_TRUE(contains(error.message, got)) << render(error);
    EXPECT_FALSE(error.help.empty());
    int marked = 0;
    for (const auto &row : report.rows) {
      for (const auto &cell : row.cells) {
        marked += cell.differs;
      }
    }
    EXPECT_GE(marked, 1);
  }
  void expectPython(const std::string &from, const std::string &to, const std::string &place,
                    const std::string &wanted, const std::string &got) {
    expectRefused(python, replaced(folder.text(python), from, to), place, wanted, got);
  }
  void expectAccepted(const std::string &suffix, const std::string &edited) {
    folder.write(suffix, edited);
    EXPECT_TRUE(folder.check().agrees) << folder.diags.render() << edited;
  }

  static constexpr const char *python = "_triton.py";
  Folder folder;
};

class ShippedInterface : public testing::TestWithParam<std::string> {};
INSTANTIATE_TEST_SUITE_P(All, ShippedInterface, testing::ValuesIn(sampledOperators()),
                         [](const auto &info) { return info.param; });
INSTANTIATE_TEST_SUITE_P(OfPrograms, ShippedInterface, testing::ValuesIn(sampledProgramOperators()),
                         [](const auto &info) { return info.param; });

TEST_P(ShippedInterface, OfAllFilesAgreesUntilOneIsEdited) {
  Folder folder(GetParam());
  InterfaceReport report = folder.check();
  EXPECT_TRUE(report.agrees) << folder.diags.render();
  EXPECT_EQ(report.files.size(), 5u);
  size_t checks = 0;
  for (const auto &row : report.rows) {
    EXPECT_EQ(row.cells.size(), report.files.size());
    checks += row.property == "check";
  }
  EXPECT_GE(checks, 3u) << "of dimensions, shape and type";

  // A renamed parameter in one file is found, with both versions.
  std::string suffix = "_baseline.cpp", first = folder.op.parameters.front().name;
  folder.write(suffix, replaced(folder.text(suffix), "&" + first, "&renamed"));
  EXPECT_FALSE(folder.check().agrees);
  ASSERT_EQ(folder.diags.all().size(), 1u);
  EXPECT_EQ(folder.diags.all()[0].code, "E0610");
  EXPECT_EQ(folder.diags.all()[0].file, folder.path(suffix));
  EXPECT_TRUE(contains(folder.diags.all()[0].message, "renamed")) << folder.diags.render();
}

TEST_P(ShippedInterface, OfBothLanguagesAgreesUntilOneIsEdited) {
  for (const char *suffix : {"_baseline.py", "_accuracy.py", "_performance.py"}) {
    Folder folder(GetParam(), Language::Both);
    InterfaceReport report = folder.check();
    EXPECT_TRUE(report.agrees) << folder.diags.render();
    EXPECT_EQ(report.files.size(), 8u);
    for (const auto &row : report.rows) {
      EXPECT_EQ(row.cells.size(), report.files.size());
    }
    const std::string first = folder.op.parameters.front().name;
    folder.write(suffix, replaced(folder.text(suffix), first + ": torch.Tensor", first + ": int"));
    EXPECT_FALSE(folder.check().agrees);
    ASSERT_EQ(folder.diags.all().size(), 1u) << folder.diags.render();
    EXPECT_EQ(folder.diags.all()[0].code, "E0610");
    EXPECT_EQ(folder.diags.all()[0].file, folder.path(suffix));
  }
}

/// Each check that the kernel makes is one whose absence from the baseline is found.
TEST_P(ShippedInterface, ABaselineThatTakesWhatTheKernelRefuses) {
  Folder folder(GetParam(), Language::Python);
  const std::string text = folder.text("_baseline.py");
  const size_t function = text.find("\ndef " + folder.op.name + "(");
  int checks = 0;
  for (const char *begin : {"\n    assert ", "\n    _check("}) {
    for (size_t at = function; (at = text.find(begin, at)) != std::string::npos; at += 1) {
      folder.write("_baseline.py",
                   text.substr(0, at) + "\n    print(" + text.substr(text.find('(', at) + 1));
      const size_t end = text.find('\n', at + 1);
      if (text[end - 1] != '(') { // one line
        folder.write("_baseline.py", text.substr(0, at) + text.substr(end));
      }
      EXPECT_FALSE(folder.check().agrees) << text.substr(at, end - at);
      ++checks;
    }
  }
  EXPECT_GE(checks, 3);
}

TEST_F(LayerNorm, TypeOfATensor) {
  expectPython("weight: torch.Tensor", "weight: int", "weight: int",
               "parameter 'weight' of type 'torch.Tensor'", "'int'");
}

TEST_F(LayerNorm, TypeOfANumber) {
  expectPython("eps: float", "eps: str", "eps: str", "'eps' of type 'float'", "'str'");
}

TEST_F(LayerNorm, TypeRemoved) {
  expectPython("bias: torch.Tensor", "bias", "bias", "'torch.Tensor'", "'none'");
}

TEST_F(LayerNorm, ResultType) {
  expectPython(") -> torch.Tensor:", ") -> tuple[torch.Tensor, torch.Tensor]:", ") -> tuple",
               "'torch.Tensor'", "'tuple[torch.Tensor, torch.Tensor]'");
}

TEST_F(LayerNorm, DefaultChanged) {
  expectPython("eps: float = 1e-05", "eps: float = 1e-3", "eps: float = 1e-3", "'1e-05'", "'1e-3'");
}

TEST_F(LayerNorm, DefaultRemoved) {
  expectPython("eps: float = 1e-05", "eps: float", "eps: float", "'1e-05'", "'none'");
}

TEST_F(LayerNorm, DefaultOfATensor) {
  expectPython("bias: torch.Tensor", "bias: torch.Tensor = None", "bias: torch.Tensor = None",
               "'bias' without a default", "'None'");
}

/// No Python runs the wrapper, so what it gives the kernel is compared where names say it.
TEST_F(LayerNorm, ArgumentsOfTheKernelSwapped) {
  expectPython("            weight,\n            bias,\n",
               "            bias,\n            weight.contiguous(),\n", "            bias,",
               "argument 2 to be 'weight'", "got 'bias'");
}

TEST_F(LayerNorm, SizesOfTheKernelSwapped) {
  expectPython("            rest,\n            D,\n", "            D,\n            D,\n",
               "            D,", "to be 'rest'", "got 'D'");
}

TEST_F(LayerNorm, ArgumentsOfTheKernelWrittenInOtherWays) {
  expectAccepted(python, replaced(replaced(folder.text(python), "            weight,\n",
                                           "            weight.view(-1),\n"),
                                  "            rest,\n", "            x.shape[0],\n"));
}

TEST_F(LayerNorm, ParametersReordered) {
  std::string text = folder.text(python);
  text = replaced(text, "    weight: torch.Tensor,\n    bias: torch.Tensor,\n",
                  "    bias: torch.Tensor,\n    weight: torch.Tensor,\n");
  expectRefused(python, text, "def layer_norm", "(x, weight, bias, eps, *, out)",
                "(x, bias, weight, eps, *, out)");
}

TEST_F(LayerNorm, ParametersThatAreNoLongerPassedByPosition) {
  expectPython("    weight: torch.Tensor,\n",
               "    *,  # all by name, f(x, *)\n    weight: torch.Tensor,\n", "def layer_norm",
               "(x, weight, bias, eps, *, out)", "(x, *, weight, bias, eps, *, out)");
}

TEST_F(LayerNorm, AParameterThatTakesAllOthers) {
  expectPython("    weight: torch.Tensor,\n", "    *weight: torch.Tensor,\n", "def layer_norm",
               "(x, weight, bias, eps, *, out)", "(x, *weight, bias, eps, *, out)");
}

TEST_F(LayerNorm, AWrapperThatCannotBeRead) {
  folder.write(python,
               replaced(folder.text(python), "weight: torch.Tensor,", "weight: torch.Tensor"));
  EXPECT_FALSE(folder.check().agrees);
  ASSERT_EQ(folder.diags.all().size(), 1u) << folder.diags.render();
  EXPECT_EQ(folder.diags.all()[0].code, "E0104") << folder.diags.render();
  EXPECT_GT(folder.diags.all()[0].range.line, 0);
}

TEST_F(LayerNorm, OneCheckRemoved) {
  expectRefused(python, withoutLinesOf(folder.text(python), {"assert weight.dim() == 1"}),
                "def layer_norm", "'weight.dim() == 1'", "none");
}

TEST_F(LayerNorm, CheckWeakened) {
  expectPython("assert weight.dim() == 1", "assert weight.dim() >= 1", "weight.dim() >= 1",
               "'weight.dim() == 1'", "'weight.dim() >= 1'");
}

TEST_F(LayerNorm, ShapeOfACheckChanged) {
  expectPython("_check(\"bias\", bias, (D,)", "_check(\"bias\", bias, bias.shape",
               "bias, bias.shape", "'tuple(bias.shape) == (D,)'",
               "'tuple(bias.shape) == bias.shape'");
}

TEST_F(LayerNorm, TypesOfACheckWidened) {
  expectPython("_check(\"bias\", bias, (D,), (x.dtype,))",
               "_check(\"bias\", bias, (D,), (bias.dtype,))", "(bias.dtype,)",
               "'bias.dtype in (x.dtype,)'", "'bias.dtype in (bias.dtype,)'");
}

TEST_F(LayerNorm, AllChecksRemoved) {
  folder.write(python, withoutLinesOf(folder.text(python), {"    assert ", "    _check("}));
  InterfaceReport report = folder.check();
  EXPECT_FALSE(report.agrees);
  // Three tensors with dimensions, shape and type each.
  EXPECT_GE(folder.diags.all().size(), 9u) << folder.diags.render();
  for (const Diagnostic &error : folder.diags.all()) {
    EXPECT_EQ(error.code, "E0610");
  }
}

TEST_F(LayerNorm, ChecksThatAreNotMadeAlways) {
  const std::string text = folder.text(python);
  const std::string check = "    assert weight.dim() == 1";
  for (const std::string &edit :
       {replaced(text, check, "    if x.numel() > 99:\n        assert weight.dim() == 1"),
        replaced(text, check, "    if x.numel() > 99:\n        return x\n" + check),
        replaced(text, check, "    return x\n" + check),
        replaced(text, check, "    for i in range(0):\n        assert weight.dim() == 1"),
        replaced(text, check,
                 "    try:\n        assert weight.dim() == 1\n    except AssertionError:\n"
                 "        pass\n    print"),
        replaced(text, check, "    weight = weight.flatten()\n" + check),
        replaced(text, check, "    assert (weight.dim() == 1, \"1 dimension\")\n    print"),
        replaced(text, "def _check(name", "def _check(*all):\n    pass\n\n\ndef _unused(name"),
        text + "\n_check = print\n", text + "\n\ndef layer_norm(*all):\n    pass\n",
        replaced(text, "    assert tensor.dtype in dtypes", "    print"),
        replaced(text, "assert tuple(tensor.shape) == shape",
                 "assert len(tensor.shape) == len(shape)")}) {
    folder.write(python, edit);
    EXPECT_FALSE(folder.check().agrees) << edit;
  }
}

TEST_F(LayerNorm, FunctionRenamed) {
  std::string renamed = replaced(folder.text(python), "def layer_norm(", "def layer_norms(");
  folder.write(python, renamed);
  EXPECT_FALSE(folder.check().agrees);
  ASSERT_EQ(folder.diags.all().size(), 1u);
  EXPECT_EQ(folder.diags.all()[0].message,
            "expects a Python function 'layer_norm', but got 'layer_norms'");
}

TEST_F(LayerNorm, EditsOfTheCompanions) {
  for (const char *suffix : {"_kernel.hpp", "_baseline.cpp", "_accuracy.cpp", "_performance.cpp"}) {
    const std::string text = folder.text(suffix);
    for (const std::string &edit :
         {replaced(text, "const nereid::Tensor &bias", "nereid::Tensor bias", true),
          replaced(text, "double eps", "float eps", true),
          replaced(text, "nereid::Tensor layer_norm(", "std::vector<nereid::Tensor> layer_norm("),
          replaced(text, "layer_norm(const", "layer_norms(const")}) {
      folder.write(suffix, edit);
      EXPECT_FALSE(folder.check().agrees) << suffix << edit;
      EXPECT_GE(folder.diags.all().size(), 1u);
    }
    folder.write(suffix, text);
  }
  const std::string launcher = folder.text("_kernel.hpp");
  folder.write("_kernel.hpp", replaced(launcher, "double eps = 1e-05", "double eps = 1e-04"));
  EXPECT_FALSE(folder.check().agrees);
  EXPECT_TRUE(contains(folder.diags.render(), "expects parameter 'eps' with default '1e-05', but "
                                              "got '1e-04'"))
      << folder.diags.render();
}

TEST_F(LayerNorm, ChecksOfTheCompanions) {
  for (const char *suffix : {"_kernel.hpp", "_baseline.cpp"}) {
    const std::string text = folder.text(suffix);
    const size_t function = text.find("nereid::Tensor layer_norm(");
    auto edited = [&](const std::string &from, const std::string &to) {
      return text.substr(0, function) + replaced(text.substr(function), from, to);
    };
    const std::string check = "  expectRank(\"weight\", weight, 1);\n";
    expectRefused(suffix, edited(check, ""), "layer_norm(", "'expectRank(\"weight\", weight, 1)'",
                  "none");
    expectRefused(suffix, edited(check, "  expectRankAtLeast(\"weight\", weight, 1);\n"),
                  "expectRankAtLeast", "'expectRank(\"weight\", weight, 1)'",
                  "'expectRankAtLeast(\"weight\", weight, 1)'");
    for (const std::string &edit :
         {edited(check, "  // expectRank(\"weight\", weight, 1);\n"),
          edited(check, "#ifdef CHECKED\n" + check + "#endif\n"),
          edited(check, "  if (x.elementCount() > 99) {\n" + check + "  }\n"),
          edited(check, "  return x;\n" + check),
          edited("expectShape(\"bias\", bias, joined({}, {D}))",
                 "expectShape(\"bias\", bias, bias.shape())"),
          edited("expectType(\"bias\", bias, {x.dtype()})",
                 "expectType(\"bias\", bias, {x.dtype(), nereid::DType::F64})")}) {
      folder.write(suffix, edit);
      EXPECT_FALSE(folder.check().agrees) << edit;
    }
    for (const std::string &edit :
         {edited(check, "  // One dimension.\n  nereid::expectRank(\"scale\",\n    weight, 1);\n"),
          edited(check, "  expectRank(\"x\", x, 2);\n" + check),
          text.substr(0, function) + // the class before it has a D of its own
              replaced(replaced(replaced(text.substr(function),
                                         "const int64_t D = ", "const int64_t width = "),
                                "That(D ", "That(width ", true),
                       "{D}", "{width}", true)}) {
      expectAccepted(suffix, edit);
    }
    folder.write(suffix, text);
  }
}

TEST_F(LayerNorm, ChecksOfTheClassThatLaunches) {
  const std::string text = folder.text("_kernel.hpp");
  const size_t constructor = text.find("inline Launch::Launch(");
  auto edited = [&](const std::string &from, const std::string &to) {
    return text.substr(0, constructor) + replaced(text.substr(constructor), from, to);
  };
  const std::string check = "  expectRank(\"weight\", weight, 1);\n";
  for (const std::string &edit :
       {edited(check, ""), edited(check, "  return;\n" + check),
        edited(check, "  if (x.elementCount() > 99) return;\n" + check),
        edited("expectType(\"bias\", bias, {x.dtype()})",
               "expectType(\"bias\", bias, {x.dtype(), nereid::DType::F64})"),
        edited("double eps", "float eps")}) {
    folder.write("_kernel.hpp", edit);
    EXPECT_FALSE(folder.check().agrees) << edit;
  }
  expectAccepted("_kernel.hpp", edited(check, "  expectRank(\"x\", x, 2);\n" + check));
  folder.write("_kernel.hpp", text);
}

TEST_F(LayerNorm, WhatMeansTheSameIsAccepted) {
  const std::string text = folder.text(python);
  const std::string check = "    assert weight.dim() == 1";
  for (const std::string &edit :
       {replaced(text, "    weight: torch.Tensor,\n", "    weight  :  torch.Tensor,  # scale\n\n"),
        replaced(text, "eps: float = 1e-05", "eps: float = 0.00001"),
        replaced(text, "bias: torch.Tensor", "bias: \"torch.Tensor\""),
        replaced(replaced(text, "bias: torch.Tensor", "bias: Tensor"), "import torch\n",
                 "import torch\nfrom torch import Tensor\n"),
        replaced(text, check, "    assert x.is_contiguous() or True, \"more\"\n" + check),
        replaced(text, check, "    assert weight.ndim == 1"),
        replaced(text, check, "    assert 1 == len(weight.shape)"),
        replaced(text, check,
                 "    if weight.dim() != 1:\n        raise ValueError(\"weight\")\n    print"),
        replaced(text, "    D = x.shape[-1]\n", "    size = x.size(-1)\n    D = size\n"),
        replaced(text, "    D = x.shape[-1]\n", "    D = _width(x)\n") +
            "\n\ndef _width(tensor):\n    \"\"\"Columns.\"\"\"\n    return tensor.shape[-1]\n",
        replaced(text, check, "    _one_dimension(weight)\n    print") +
            "\n\ndef _one_dimension(tensor):\n    assert tensor.dim() == 1, \"one\"\n",
        replaced(text, "_check(", "_expect(", true),
        replaced(text, "    D = x.shape[-1]\n", "    # The width.\n    D = (x.shape[-1])\n")}) {
    expectAccepted(python, edit);
  }
  folder.write(python, text);
  const std::string suffix = "_baseline.cpp", baseline = folder.text(suffix);
  expectAccepted(suffix, replaced(baseline, "const nereid::Tensor &bias",
                                  "const   nereid::Tensor& /* one (per, column) */ bias"));
  expectAccepted(suffix, "static int more(int layer_norm) { return layer_norm; }\n" + baseline);
}

TEST(Interface, ReadsDefaultsTuplesAndComments) {
  auto python = readPythonInterface(
      "a.py", "def f(x: T, eps: float = 1e-5) -> tuple[T, T]:\n    return x, x\n", "f");
  ASSERT_TRUE(bool(python)) << render(python.error());
  EXPECT_EQ(python->text(), "'f(x, eps) -> 2 tensors'");
  EXPECT_EQ(python->parameters[1].value.shown, "1e-5");
  auto cpp = readCppInterface("a.cpp",
                              "// Tensor f(wrong)\nint f2(int);\nauto t = ns::f(1);\n"
                              "std::tuple<nereid::Tensor, nereid::Tensor> f(const "
                              "nereid::Tensor &x /* f( */, double eps = g(1, 2)) {}",
                              "f");
  ASSERT_TRUE(bool(cpp)) << render(cpp.error());
  EXPECT_EQ(cpp->text(), "'f(x, eps) -> 2 tensors'");
  EXPECT_EQ(cpp->parameters[0].type.meaning, "const nereid::Tensor&");
  EXPECT_EQ(cpp->parameters[1].value.shown, "g(1, 2)");
  EXPECT_EQ(cpp->place.line, 4);
  EXPECT_EQ(readCppInterface("a.cpp", "Tensor f(", "f").error().code, "E0610");
  EXPECT_EQ(readPythonInterface("a.py", "def g():\n    pass\n", "f").error().code, "E0610");
}

TEST(Interface, OfFilesThatNeverEndIsReadInAMoment) {
  // Every line doubles what the one before it stands for; every function calls the next one often.
  std::string text = "def f(x):\n    a0 = (x, x)\n";
  for (int i = 1; i < 200; ++i) {
    text += "    a" + std::to_string(i) + " = (a" + std::to_string(i - 1) + ", a" +
            std::to_string(i - 1) + ")\n";
  }
  text += "    g0(a199)\n    assert a199 == x\n";
  for (int i = 0; i < 30; ++i) {
    std::string next = "g" + std::to_string((i + 1) % 30);
    text += "\n\ndef g" + std::to_string(i) + "(y):\n";
    for (int j = 0; j < 20; ++j) {
      text += "    " + next + "(y)\n";
    }
    text += "    return (" + next + "(y), " + next + "(y))\n";
  }
  EXPECT_TRUE(bool(readPythonInterface("a.py", text, "f")));
  std::string cpp = "Tensor f(const Tensor &x) {\n  auto a0 = x;\n";
  for (int i = 1; i < 200; ++i) {
    cpp += "  auto a" + std::to_string(i) + " = a" + std::to_string(i - 1) + " + a" +
           std::to_string(i - 1) + ";\n";
  }
  EXPECT_TRUE(bool(readCppInterface("a.cpp", cpp + "  expect(a199);\n", "f")) &&
              bool(readCppInterface("a.cpp", cpp + "  expect(a199);\n}\n", "f")));
}

} // namespace
} // namespace nereid::generator
