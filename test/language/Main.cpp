// SPDX-License-Identifier: Apache-2.0
// The suite as tests, one for each case, and with --coverage=FILE the table of docs/coverage.md.
// --engines=NAME;NAME runs the cases elsewhere than in the interpreter and on this machine's CPU.
#include "lib/support/AtomicFile.h"
#include "lib/targets/Targets.h"
#include "test/language/Case.h"
#include "test/language/engines/Engine.h"

#include <gtest/gtest.h>

#include <cctype>
#include <cstdio>
#include <set>

namespace nereid::conformance {

Cases allCases() {
  Cases cases;
  for (auto add :
       {addArithmetic, addMath, addLibdevice, addDirected, addCasts, addMemory, addShapes,
        addReductions, addScans, addAtomics, addMatrix, addControl, addRandom, addReinterpretation,
        addCompileTime, addFloat8, addBlockPointers, addDescriptors, addDotScaled}) {
    add(cases);
  }
  return cases;
}

namespace {

std::vector<std::unique_ptr<Engine>> &engines() {
  static std::vector<std::unique_ptr<Engine>> all;
  return all;
}

class CaseTest : public testing::Test {
public:
  explicit CaseTest(Case one) : one(std::move(one)) {}
  void TestBody() override {
    for (DType type : one.types) {
      for (const auto &engine : engines()) {
        EXPECT_EQ(runCase(one, type, *engine), "")
            << one.builtin << ", " << one.title << ", " << kernelName(type) << ", "
            << engine->name() << "\n"
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
    "tl.block_type",
    "tl.constexpr_type",
};

TEST(Coverage, EveryFunctionHasACase) {
  std::map<std::string, Outcome> named;
  for (const Case &one : allCases()) {
    named[one.builtin].right["interpreter"] = one.types;
  }
  std::set<std::string> missing;
  for (const CoverageRow &row : coverageRows(named)) {
    if (row.isParsed && row.outcome.right.empty()) {
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
  std::vector<std::string> names;
  for (const auto &engine : engines()) {
    names.push_back(engine->name());
    for (const Case &one : allCases()) {
      for (DType type : one.types) {
        if (runCase(one, type, *engine).empty()) {
          outcomes[one.builtin].right[engine->name()].push_back(type);
        }
      }
    }
  }
  if (auto written = writeFileAtomically(path, coverageTable(outcomes, names)); !written) {
    std::fprintf(stderr, "%s\n", written.error().message.c_str());
    return 2;
  }
  return 0;
}

/// False with a message when there is no engine of such a name, or it cannot be had.
bool startEngines(std::string_view names) {
  while (!names.empty()) {
    size_t end = names.find(';');
    std::string problem;
    std::unique_ptr<Engine> engine = Engine::start(std::string(names.substr(0, end)), problem);
    if (!engine) {
      std::fprintf(stderr, "%s\n", problem.c_str());
      return false;
    }
    engines().push_back(std::move(engine));
    names = end == std::string_view::npos ? "" : names.substr(end + 1);
  }
  return true;
}

} // namespace
} // namespace nereid::conformance

int main(int argc, char **argv) {
  using namespace nereid::conformance;
  nereid::registerTargets();
  testing::InitGoogleTest(&argc, argv);
  std::string names = "interpreter;cpu", coverage;
  for (int i = 1; i < argc; ++i) {
    std::string_view argument = argv[i];
    if (argument == "--list-engines") {
      std::printf("%s\n", Engine::knownNames().c_str());
      return 0;
    }
    if (argument.starts_with("--options-of=")) {
      std::printf("%s\n", Engine::commandLineOptions(argv[i] + argument.find('=') + 1).c_str());
      return 0;
    }
    if (argument.starts_with("--engines=")) {
      names = argument.substr(argument.find('=') + 1);
      names = names == "all" ? Engine::knownNames() : names;
    } else if (argument.starts_with("--coverage=")) {
      coverage = argument.substr(argument.find('=') + 1);
    }
  }
  if (!startEngines(names)) {
    return 2;
  }
  if (!coverage.empty()) {
    return writeCoverage(coverage);
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
