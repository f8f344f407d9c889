// SPDX-License-Identifier: Apache-2.0
// Grid expressions compiled to code agree with their evaluation by the language's own evaluator.
#include "lib/aot/GridCode.h"
#include "lib/pipeline/Target.h"
#include "lib/targets/Targets.h"

#include <gtest/gtest.h>

#include <random>

namespace nereid::aot {
namespace {

/// Two integer parameters, n and m, and a constant of one specialization.
Interface twoIntegers() {
  Interface interface;
  interface.parameters = {{.name = "x", .kernelName = "x", .kind = ParameterKind::Pointer},
                          {.name = "n", .kernelName = "n", .dtype = DType::I32},
                          {.name = "m", .kernelName = "m", .dtype = DType::I64}};
  interface.specializations = {{.signature = "x=*fp32,n=i32,m=i64,BLOCK=128", .slots = {0, 1, 2}}};
  interface.specializations[0].constants = {{"BLOCK", 128}};
  return interface;
}

using GridFunction = const char *(*)(const uint64_t *slots, int64_t grid[3]);

/// The code of several expressions; of those that are refused there is none.
class CompiledGrids {
public:
  explicit CompiledGrids(const std::vector<std::string> &texts) {
    registerTargets();
    Interface interface = twoIntegers();
    interface.specializations.resize(texts.size(), interface.specializations.front());
    std::string module = gridDeclarations(), table;
    for (size_t i = 0; i < texts.size(); ++i) {
      Result<std::string> function = gridFunction(texts[i], interface, i);
      module += function ? *function : "";
      table += (i == 0 ? "ptr " : ", ptr ") + (function ? "@" + gridName(i) : "null");
    }
    module += "@all = constant [" + std::to_string(texts.size()) + " x ptr] [" + table + "]\n";
    Diagnostics diags;
    Result<pipeline::Target *> target = pipeline::findTarget("cpu");
    std::vector<uint8_t> object;
    if (!target || !(*target)->assemble(module, object, diags)) {
      ADD_FAILURE() << diags.render();
      return;
    }
    auto loaded = runtime::loadObject(object);
    if (const auto *error = std::get_if<runtime::LaunchError>(&loaded)) {
      ADD_FAILURE() << error->message;
      return;
    }
    code = std::get<std::shared_ptr<runtime::Module>>(loaded);
    functions = static_cast<const GridFunction *>(code->symbol("all"));
  }

  /// What the code says, the sizes as text or "none" when there are none.
  std::string sizes(size_t number, int64_t n, int64_t m) const {
    const uint64_t slots[] = {0, static_cast<uint64_t>(n), static_cast<uint64_t>(m)};
    int64_t grid[3];
    if (!functions || !functions[number] || functions[number](slots, grid)) {
      return "none";
    }
    const bool isNegative = grid[0] < 0 || grid[1] < 0 || grid[2] < 0; // the launcher refuses it
    return isNegative ? "none" : show(grid);
  }
  /// What has no value.
  std::string problem(size_t number, int64_t n, int64_t m) const {
    const uint64_t slots[] = {0, static_cast<uint64_t>(n), static_cast<uint64_t>(m)};
    int64_t grid[3];
    const char *said = functions && functions[number] ? functions[number](slots, grid) : nullptr;
    return said ? said : "";
  }

  static std::string show(const int64_t *grid) {
    return std::to_string(grid[0]) + "," + std::to_string(grid[1]) + "," + std::to_string(grid[2]);
  }

private:
  std::shared_ptr<runtime::Module> code;
  const GridFunction *functions = nullptr;
};

std::string byEvaluator(const std::string &text, int64_t n, int64_t m) {
  auto grid = language::evaluateGrid(text, {{"n", n}, {"m", m}, {"BLOCK", 128}});
  return grid ? CompiledGrids::show(grid->data()) : "none";
}

std::string byCode(const std::string &text, int64_t n, int64_t m) {
  return CompiledGrids({text}).sizes(0, n, m);
}

TEST(AotGrid, HandComputedValues) {
  EXPECT_EQ(byCode("cdiv(n, BLOCK)", 1000, 0), "8,1,1");
  EXPECT_EQ(byCode("(n + BLOCK - 1) // BLOCK, m", 1024, 7), "8,7,1");
  EXPECT_EQ(byCode("1, 2, n if n > 3 else m", 3, 9), "1,2,9");
  EXPECT_EQ(byCode("-7 // 2 + 10, -7 % 3, 7 % -3 + 5", 0, 0), "6,2,3");
  EXPECT_EQ(byCode("n and m, n or m, not n", 0, 5), "0,5,1");
  EXPECT_EQ(byCode("next_power_of_2(n), min(n, m, 4), max(n, m, 4)", 5, 3), "8,3,5");
  EXPECT_EQ(byCode("triton.cdiv(n, 2), tl.cdiv(m, 2)", 5, 8), "3,4,1");
  EXPECT_EQ(byCode("2 ** n, 1 << m, 256 >> 3", 10, 4), "1024,16,32");
  EXPECT_EQ(byCode("abs(n), ~n + 5, n ^ m", 3, 5), "3,1,6");
  EXPECT_EQ(byCode("n >= m, n != m, n <= 3", 3, 5), "0,1,1");
}

TEST(AotGrid, NoValue) {
  const std::string overflow = "a number that does not fit in 64 bits";
  const std::string divisor = "a division by zero";
  const std::vector<std::pair<std::string, std::string>> cases = {
      {"n // m", divisor},
      {"n % m", divisor},
      {"cdiv(n, m)", divisor},
      {"1 << (m - 1)", "a shift by a negative count"},
      {"1 >> (m - 1)", "a shift by a negative count"},
      {"2 ** (m - 1)", "a power with a negative exponent"},
      {"n * 9223372036854775807", overflow},
      {"9223372036854775807 + n", overflow},
      {"-9223372036854775807 - n", overflow},
      {"-(-9223372036854775807 - 1)", overflow},
      {"abs(-9223372036854775807 - 1)", overflow},
      {"(-9223372036854775807 - 1) // -1", overflow},
      {"cdiv(-9223372036854775807 - 1, -1)", overflow},
      {"1 << 63", overflow},
      {"n << 62", overflow},
      {"n ** n ** n", overflow},
      {"next_power_of_2(m - 1)", "next_power_of_2 of a number outside of 0 to 2^62"},
      {"next_power_of_2((1 << 62) + 1)", "next_power_of_2 of a number outside of 0 to 2^62"},
      {"1, 2, n // m", divisor}};
  for (const auto &[text, said] : cases) {
    EXPECT_EQ(CompiledGrids({text}).problem(0, 7, 0), said) << text;
    EXPECT_EQ(byEvaluator(text, 7, 0), "none") << text;
  }
  EXPECT_EQ(byCode("m - 1", 7, 0), "none");
  EXPECT_EQ(byEvaluator("m - 1", 7, 0), "none");
}

/// Which nothing has to be careful about but the ends of the range.
TEST(AotGrid, EndsOfTheRange) {
  const std::string least = "(-9223372036854775807 - 1)";
  EXPECT_EQ(byCode(least + " % -1, (" + least + " >> 99) + 1, 0 << 99", 0, 0), "0,0,0");
  EXPECT_EQ(byCode("(-1) ** 9223372036854775807 + 2, (-1) ** 9223372036854775806, 0 ** 0", 0, 0),
            "1,1,1");
  EXPECT_EQ(byCode("0 ** 9223372036854775807, 1 ** 9223372036854775807, 2 ** 62", 0, 0),
            "0,1,4611686018427387904");
  EXPECT_EQ(byCode("next_power_of_2(0), next_power_of_2(1), next_power_of_2(1 << 62)", 0, 0),
            "0,1,4611686018427387904");
  EXPECT_EQ(byCode("cdiv(-7, 2) + 3, cdiv(7, -2) + 3, cdiv(-7, -2)", 0, 0), "0,0,4");
  // What is not taken is not computed.
  EXPECT_EQ(byCode("n if m == 0 else n // m, m and n // m, n or n // m", 5, 0), "5,0,5");
}

TEST(AotGrid, Refused) {
  const Interface interface = twoIntegers();
  auto codeOf = [&](const std::string &text) {
    auto code = gridFunction(text, interface, 0);
    return code ? std::string("accepted") : code.error().code;
  };
  for (const char *text : {"blocks", "x", "n / 2", "1, 2, 3, 4", "n.size", "\"n\"", "cdiv(n)",
                           "sqrt(n)", "1.5", "min(n)", "abs(n, m)"}) {
    EXPECT_EQ(codeOf(text), "E0021") << text;
  }
  EXPECT_EQ(codeOf("n +"), "E0105");
  // The nearest name is in the help.
  auto code = gridFunction("BLOK", interface, 0);
  ASSERT_FALSE(code);
  EXPECT_EQ(code.error().help, "did you mean 'BLOCK'?");
}

TEST(AotGrid, DeepExpressions) {
  std::string text = "n";
  for (int i = 0; i < 70; ++i) {
    text = "1 + (" + text + ")";
  }
  EXPECT_EQ(byCode(text, 5, 0), "75,1,1");
}

class RandomExpression {
public:
  explicit RandomExpression(uint32_t seed) : random(seed) {}

  std::string make(int depth) {
    if (depth == 0 || pick(6) == 0) {
      static const char *const leaves[] = {"n", "m",  "BLOCK", "0",       "1",
                                           "2", "63", "-1",    "1000003", "9223372036854775807"};
      return leaves[pick(10)];
    }
    const std::string a = make(depth - 1), b = make(depth - 1);
    switch (pick(5)) {
    case 0: {
      static const char *const functions[] = {"min", "max", "cdiv"};
      return std::string(functions[pick(3)]) + "(" + a + ", " + b + ")";
    }
    case 1:
      return "(" + a + " if " + b + " else " + make(depth - 1) + ")";
    case 2: {
      static const char *const unaries[] = {"-", "~", "not ", "abs", "next_power_of_2"};
      return std::string(unaries[pick(5)]) + "(" + a + ")";
    }
    default: {
      static const char *const operators[] = {"+", "-", "*",  "//", "%",  "<<", ">>", "&",   "|",
                                              "^", "<", "<=", "==", "!=", ">",  ">=", "and", "or"};
      return "((" + a + ") " + operators[pick(18)] + " (" + b + "))";
    }
    }
  }

private:
  uint32_t pick(uint32_t count) { return static_cast<uint32_t>(random()) % count; }
  std::mt19937 random;
};

TEST(AotGrid, RandomExpressionsAgreeWithTheEvaluator) {
  int withValue = 0;
  for (uint32_t seed = 0; seed < 4000;) {
    const uint32_t first = seed;
    std::vector<std::string> texts;
    for (; texts.size() < 500; ++seed) {
      texts.push_back(RandomExpression(seed).make(4));
    }
    const CompiledGrids grids(texts);
    for (size_t i = 0; i < texts.size(); ++i) {
      const int64_t n = (first + i) % 37, m = (first + i) % 5;
      const std::string sizes = grids.sizes(i, n, m);
      EXPECT_EQ(sizes, byEvaluator(texts[i], n, m)) << texts[i];
      withValue += sizes != "none";
    }
  }
  EXPECT_GT(withValue, 1000);
}

} // namespace
} // namespace nereid::aot
