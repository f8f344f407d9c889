// SPDX-License-Identifier: Apache-2.0
// The tables of what was found for sizes that launchers of generated operators read from the Python
// file, as they are generated, as people and formatters write them, and damaged.
#include "nereid/operator.hpp"
#include "unittests/capi/Errors.h"

#include <filesystem>
#include <fstream>
#include <unistd.h>

namespace {

using nereid::DType;
using nereid::TuningTable;

class Tunings : public ::testing::Test {
protected:
  ~Tunings() override { std::filesystem::remove(path); }

  TuningTable read(const std::string &text) const {
    std::ofstream(path) << text;
    return TuningTable(path);
  }

  const std::string path =
      std::filesystem::temp_directory_path() / ("tunings" + std::to_string(::getpid()) + ".py");
};

TEST_F(Tunings, AreThoseOfTheClass) {
  const TuningTable table = read(R"("""A text that says SCHEDULES = { and so on."""
# (type, up to these powers of two: D, rest): what was found better than the rules.
SCHEDULES = {
    (torch.float32, 1024, 8): {  # by round 2 (the last)
        "reduce.BLOCK_X": 4,
        "reduce.HELD": 0,
    },
    (torch.float32, 1024, 16): {'reduce.BLOCK_X': 1},
    (
        torch.bfloat16,
        1024,
        8,
    ): {},
}
SCHEDULES_TOO = {1: 2}
)");
  EXPECT_EQ(table.find(DType::F32, {1024, 8}).get("reduce.BLOCK_X", 7), 4);
  EXPECT_EQ(table.find(DType::F32, {513, 5}).get("reduce.BLOCK_X", 7), 4);
  EXPECT_EQ(table.find(DType::F32, {513, 5}).get("reduce.HELD", 7), 0);
  EXPECT_EQ(table.find(DType::F32, {513, 5}).get("reduce.BLOCK_Y", 7), 7) << "by rule";
  EXPECT_EQ(table.find(DType::F32, {600, 9}).get("reduce.BLOCK_X", 7), 1);
  // No entry of this class.
  EXPECT_EQ(table.find(DType::F32, {512, 8}).get("reduce.BLOCK_X", 7), 7);
  EXPECT_EQ(table.find(DType::F32, {1024}).get("reduce.BLOCK_X", 7), 7);
  EXPECT_EQ(table.find(DType::BF16, {1024, 8}).get("reduce.BLOCK_X", 7), 7);
  EXPECT_EQ(table.find(DType::F32, {1024, 8}).form(), "launches");
}

TEST_F(Tunings, FormsAreOfTheSameClasses) {
  const TuningTable table = read(R"(SCHEDULES = {
    (torch.float32, 1024): {"map.BLOCK_Y": 64},
}
# graph: recorded
FORMS = {
    (torch.float32, 1024): "graph",  # quickest
    (torch.float16, 64): 'eager',
    (torch.float16,): "launches"
}
)");
  EXPECT_EQ(table.find(DType::F32, {1000}).form(), "graph");
  EXPECT_EQ(table.find(DType::F32, {1000}).get("map.BLOCK_Y", 1), 64);
  EXPECT_EQ(table.find(DType::F32, {1025}).form(), "launches");
  EXPECT_EQ(table.find(DType::F16, {64}).form(), "eager") << "by rule, with a form";
  EXPECT_EQ(table.find(DType::F16, {}).form(), "launches");
  const nereid::Error error =
      errorOf([&] { read("FORMS = {\n    (torch.float32, 8): \"quick\",\n}\n"); });
  EXPECT_EQ(error.what(), path +
                              ":2: the table expects one of 'launches', 'graph', 'eager', but got "
                              "'quick'");
}

TEST_F(Tunings, WithoutATableTheRulesDecide) {
  EXPECT_EQ(read("").find(DType::F32, {8}).get("map.BLOCK_Y", 3), 3);
  EXPECT_EQ(read("SCHEDULES = {}\n").find(DType::F32, {}).get("map.BLOCK_Y", 3), 3);
}

TEST_F(Tunings, DamagedTablesAreRefusedWithTheirPlace) {
  const std::string entry = "SCHEDULES = {\n    (torch.float32, 8): {\"map.BLOCK_X\": 4},\n}\n";
  EXPECT_EQ(read(entry).find(DType::F32, {8}).get("map.BLOCK_X", 1), 4);
  struct Damage {
    std::string from, to, said;
  };
  for (const auto &[from, to, said] :
       {Damage{"8", "2 ** 3", ":2: the table expects ',', but got '*'"},
        Damage{": 4", ": -4", ":2: the table expects a number, but got '-'"},
        Damage{": 4", ": 1e3", ":2: the table expects a number, but got '1e3'"},
        Damage{": 4", ": 99999999999999999999",
               ":2: the table expects a number, but got '99999999999999999999'"},
        Damage{"\"map", "\"", ":2: the table expects a name, but got '.'"},
        Damage{"\"map.BLOCK_X\"", "map", ":2: the table expects '\"', but got 'map'"},
        Damage{"torch.", "tl.", ":2: the table expects 'torch', but got 'tl'"},
        Damage{"\n}", "", ":3: the table expects '(', but got ''"}}) {
    std::string damaged = entry;
    damaged.replace(damaged.find(from), from.size(), to);
    const nereid::Error error = errorOf([&] { read(damaged); });
    EXPECT_EQ(error.what(), path + said);
    EXPECT_EQ(error.status(), NEREID_ERROR_FILE);
  }
  std::filesystem::remove(path);
  const nereid::Error error = errorOf([&] { TuningTable{path}; });
  EXPECT_EQ(error.what(), "cannot read '" + path + "'");
}

} // namespace
