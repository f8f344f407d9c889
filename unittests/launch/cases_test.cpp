// SPDX-License-Identifier: Apache-2.0
// cases.toml: what is read, which cases a command line names, outputs before a launch, references.
#include "lib/launch/CaseReference.h"
#include "lib/support/AtomicFile.h"

#include <fmt/format.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <filesystem>

#include <unistd.h>

namespace nereid::launch {
namespace {

using runtime::Tensor;

/// A folder with a cases.toml.
class CasesTest : public testing::Test {
protected:
  CasesTest() { std::filesystem::create_directories(folder); }
  ~CasesTest() override { std::filesystem::remove_all(folder); }
  Result<std::vector<KernelCase>> load(const std::string &cases) {
    EXPECT_TRUE(bool(writeFileAtomically(folder + "/cases.toml", "schema = 1\n" + cases)));
    return loadCases(folder);
  }
  static std::string oneCase(const std::string &name, const std::string &kernel,
                             const std::string &more = "") {
    return "[[case]]\nname = \"" + name + "\"\nkernel = \"" + kernel +
           "\"\nsignature = \"*fp32\"\ngrid = \"1\"\nargs = { x = \"ones(2)\", out = \"empty(2)\" "
           "}\n"
           "reference = { out = \"x + 1\" }\n" +
           more;
  }
  const std::string folder =
      (std::filesystem::temp_directory_path() / ("nereid-cases-" + std::to_string(getpid())))
          .string();
};

std::vector<std::string> namesOf(const Result<std::vector<KernelCase>> &cases) {
  std::vector<std::string> names;
  for (const KernelCase &one : *cases) {
    names.push_back(one.name);
  }
  return names;
}

TEST_F(CasesTest, AFileAndAFunctionNameTheirCases) {
  ASSERT_TRUE(bool(load(oneCase("a", "k.py:f") + oneCase("b", "k.py:g") + oneCase("c", "l.py:f"))));
  using Names = std::vector<std::string>;
  EXPECT_EQ(namesOf(casesNamedBy(folder)), (Names{"a", "b", "c"}));
  EXPECT_EQ(namesOf(casesNamedBy(folder + "/k.py")), (Names{"a", "b"}));
  EXPECT_EQ(namesOf(casesNamedBy(folder + "/k.py:g")), (Names{"b"}));
  const auto cases = casesNamedBy(folder);
  EXPECT_EQ(chooseCases(folder, *cases, "b")->front().kernel, folder + "/k.py:g");
  EXPECT_EQ(chooseCases(folder, *cases, "d").error().code, "E0016");
}

TEST_F(CasesTest, WorkspacesAreArgumentsWithoutAReference) {
  const auto cases = load(oneCase("a", "k.py:f", "workspace = [\"x\"]\n"));
  ASSERT_TRUE(bool(cases));
  EXPECT_EQ(cases->front().workspaces, std::set<std::string>{"x"});
  for (const char *wrong : {"\"x\"", "[\"z\"]", "[\"out\"]", "[3]"}) {
    EXPECT_EQ(load(oneCase("a", "k.py:f", fmt::format("workspace = {}\n", wrong))).error().code,
              "E0016")
        << wrong;
  }
}

TEST_F(CasesTest, WhatIsMissingIsNamed) {
  EXPECT_EQ(load("").error().code, "E0016");
  const auto cases = load("[[case]]\nname = \"a\"\nkernel = \"k.py\"\n");
  ASSERT_FALSE(bool(cases));
  EXPECT_NE(cases.error().message.find("'signature'"), std::string::npos);
}

TEST_F(CasesTest, ArgumentsOfTheCommandLineWinOverWhatIsComputed) {
  auto cases = load(oneCase("a", "k.py:f", "computed = { x = \"out * 2\" }\n"));
  ASSERT_TRUE(bool(cases));
  KernelCase one = cases->front();
  ASSERT_TRUE(one.computed.contains("x"));
  one.addArguments({"x=zeros(2)"});
  EXPECT_FALSE(one.computed.contains("x"));
  EXPECT_EQ(one.arguments.back(), "x=zeros(2)");
}

/// x = [1, 2], out = poison.
KernelArguments someArguments() {
  KernelArguments arguments;
  Tensor x = Tensor::empty({2}, DType::F32), out = Tensor::empty({2}, DType::F32);
  x.set(0, 1);
  x.set(1, 2);
  out.poison();
  arguments.tensors = {{"x", x}, {"out", out}};
  return arguments;
}

KernelCase someCase(const std::string &outMaker, const std::string &reference) {
  KernelCase one;
  one.name = "some";
  one.arguments = {"x=randn(2)", "out=" + outMaker};
  one.reference = {{"out", reference}};
  return one;
}

TEST(CaseOutputs, HoldBeforeEachLaunchWhatTheCaseMakes) {
  KernelArguments arguments = someArguments();
  const Tensor &out = arguments.tensors.at("out");
  const KernelCase adds = someCase("ones(2)", "out_before + x");
  EXPECT_FALSE(startsEmpty(adds, "out"));
  EXPECT_TRUE(namesBefore(adds, "out"));
  ASSERT_TRUE(bool(resetOutputs(adds, arguments)));
  EXPECT_EQ(out.at(1), 1);
  out.set(1, 7);
  ASSERT_TRUE(bool(resetOutputs(adds, arguments)));
  EXPECT_EQ(out.at(1), 1);
  const KernelCase writes = someCase("empty(2)", "x + the_out_before_it");
  EXPECT_TRUE(startsEmpty(writes, "out"));
  EXPECT_FALSE(namesBefore(writes, "out")) << "only part of a name";
  ASSERT_TRUE(bool(resetOutputs(writes, arguments)));
  EXPECT_NE(out.at(1), 1) << "poison";
}

TEST(CaseReference, OutputsAreComparedWithIt) {
  KernelArguments arguments = someArguments();
  const KernelCase one = someCase("empty(2)", "x * 3");
  const Tensor &out = arguments.tensors.at("out");
  out.set(0, 3);
  out.set(1, 6);
  auto right = compareOutputs(one, arguments);
  ASSERT_TRUE(bool(right)) << right.error().message;
  EXPECT_TRUE(right->passed());
  EXPECT_EQ(right->elements, 2);
  out.set(1, 6.5);
  EXPECT_EQ(compareOutputs(one, arguments)->mismatches, 1);
  const auto expected = expectedOutputs(one, arguments);
  ASSERT_TRUE(bool(expected));
  EXPECT_EQ(expected->front().values.at(1), 6);
  EXPECT_TRUE(expected->front().bounds.isValid()) << "of one type: each element has a bound";
}

TEST(CaseReference, InputsAreComputedFromTheOthers) {
  KernelArguments arguments = someArguments();
  Tensor y = Tensor::empty({2}, DType::F32);
  arguments.tensors.emplace("y", y);
  KernelCase one = someCase("empty(2)", "x + y");
  one.computed = {{"y", "x * 10"}};
  ASSERT_TRUE(bool(computeInputs(one, arguments)));
  EXPECT_EQ(y.at(1), 20);
  one.computed = {{"z", "x"}};
  EXPECT_EQ(computeInputs(one, arguments).error().code, "E0016");
}

} // namespace
} // namespace nereid::launch
