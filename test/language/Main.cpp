// SPDX-License-Identifier: Apache-2.0
// The suite as tests, one for each case, and with --coverage=FILE the table of docs/coverage.md.
#include "lib/support/AtomicFile.h"
#include "lib/targets/cpu/CpuTarget.h"
#include "test/language/Case.h"

#include <gtest/gtest.h>

#include <cctype>
#include <cstdio>
#include <set>

namespace nereid::conformance {

Cases allCases() {
  Cases cases;
  for (auto add :
       {addArithmetic, addMath, addLibdevice, addCasts, addMemory, addShapes, addReductions,
        addScans, addAtomics, addMatrix, addControl, addRandom, addReinterpretation, addCompileTime,
        addFloat8, addBlockPointers, addDescriptors, addDotScaled}) {
    add(cases);
  }
  return cases;
}

namespace {

class CaseTest : public testing::Test {
public:
  explicit CaseTest(Case one) : one(std::move(one)) {}
  void TestBody() override {
    for (DType type : one.types) {
      for (bool onCpu : {false, true}) {
        EXPECT_EQ(runCase(one, type, onCpu), "")
            << one.builtin << ", " << one.title << ", " << kernelName(type) << ", "
            << (onCpu ? "cpu" : "interpreter") << "\n"
            << one.source;
      }
    }
  }

private:
  Case one;
};

/// Functions that give no value to compare, with what tests them instead.
const std::set<std::string> withoutCases = {
    "print",
    "tl.static_print",
    "tl.device_print", // text: unittests/emit, test/cli
    "tl.inline_asm_elementwise",
    "tl.extra.cuda.globaltimer", // refused: unittests/emit, test/cli
    "tl.extra.cuda.smid",
    "tl.extra.cuda.gdc_wait",
    "tl.extra.cuda.gdc_launch_dependents",
    "tl.extra.cuda.num_warps",
    "tl.extra.cuda.num_threads",               // constants: unittests/emit
    "tl._experimental_make_tensor_descriptor", // tl.make_tensor_descriptor
    "tl.tensor_descriptor",
    "tl.tensor_descriptor_base", // types, for isinstance: unittests/emit
};

TEST(Coverage, EveryFunctionHasACase) {
  std::map<std::string, Outcome> named;
  for (const Case &one : allCases()) {
    named[one.builtin].interpreted = one.types;
  }
  std::set<std::string> missing;
  for (const CoverageRow &row : coverageRows(named)) {
    if (row.isParsed && row.outcome.interpreted.empty()) {
      missing.insert(row.names.front());
    }
  }
  EXPECT_EQ(missing, withoutCases);
}

std::string identifier(const std::string &text) {
  std::string name;
  for (char c : text) {
    name += std::isalnum(static_cast<unsigned char>(c)) ? c : '_';
  }
  return name;
}

int writeCoverage(const std::string &path) {
  std::map<std::string, Outcome> outcomes;
  for (const Case &one : allCases()) {
    Outcome &outcome = outcomes[one.builtin];
    for (DType type : one.types) {
      if (runCase(one, type, false).empty()) {
        outcome.interpreted.push_back(type);
      }
      if (runCase(one, type, true).empty()) {
        outcome.compiled.push_back(type);
      }
    }
  }
  if (auto written = writeFileAtomically(path, coverageTable(outcomes)); !written) {
    std::fprintf(stderr, "%s\n", written.error().message.c_str());
    return 2;
  }
  return 0;
}

} // namespace
} // namespace nereid::conformance

int main(int argc, char **argv) {
  using namespace nereid::conformance;
  nereid::cpu::registerCpuTarget();
  testing::InitGoogleTest(&argc, argv);
  if (argc > 1 && std::string(argv[1]).starts_with("--coverage=")) {
    return writeCoverage(argv[1] + std::string("--coverage=").size());
  }
  std::set<std::string> seen;
  for (const Case &one : allCases()) {
    std::string name = identifier(one.title.empty() ? "values" : one.title);
    std::string suite = identifier(one.builtin);
    for (int k = 2; !seen.insert(suite + "." + name).second; ++k) {
      name = identifier(one.title) + "_" + std::to_string(k);
    }
    testing::RegisterTest(suite.c_str(), name.c_str(), nullptr, nullptr, __FILE__, __LINE__,
                          [one] { return new CaseTest(one); });
  }
  return RUN_ALL_TESTS();
}
