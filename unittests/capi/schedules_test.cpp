// SPDX-License-Identifier: Apache-2.0
// The table of schedules that launchers of generated operators read from the Python file, as it is
// generated, as people and formatters write it, and damaged.
#include "nereid/operator.hpp"
#include "unittests/capi/Errors.h"

#include <filesystem>
#include <fstream>
#include <unistd.h>

namespace {

using nereid::DType;
using nereid::OperatorKernels;
using nereid::Schedule;
using nereid::ScheduleTable;

class Schedules : public ::testing::Test {
protected:
  ~Schedules() override { std::filesystem::remove(path); }

  ScheduleTable read(const std::string &text, const OperatorKernels &kernels) const {
    std::ofstream(path) << text;
    return ScheduleTable(path, kernels);
  }
  static OperatorKernels rowKernels() {
    OperatorKernels kernels;
    kernels.rows = "norm_rows";
    kernels.loopedRows = "norm_looped_rows";
    kernels.widestRow = 65536;
    return kernels;
  }

  const std::string path =
      std::filesystem::temp_directory_path() / ("schedules" + std::to_string(::getpid()) + ".py");
};

std::string text(const Schedule &schedule) {
  std::string list = schedule.kernel;
  for (const auto &[name, value] : schedule.constants) {
    list += " " + name + "=" + std::to_string(value);
  }
  return list;
}

TEST_F(Schedules, AreThoseOfTheClass) {
  const ScheduleTable table = read(R"("""A text that says SCHEDULES = { and CACHE_BYTES = 7."""
CACHE_BYTES = 1000

# (type, columns up to, larger than the cache): kernel and its block sizes.
SCHEDULES = {
    (torch.float32, 1024, False): (  # by rule (the first)
        norm_rows,
        dict(ROWS=4, BLOCK_N=1024, STREAMING=False),
    ),
    (torch.float32, 1024, True): (norm_looped_rows, dict(ROWS=1, BLOCK_N=4096, STREAMING=True)),
    (
        torch.bfloat16,
        1024,
        False,
    ): (norm_rows, dict()),
}
SCHEDULES_TOO = {1: 2}
)",
                                   rowKernels());
  EXPECT_EQ(text(table.find(DType::F32, 9, 1024, 1000)),
            "norm_rows ROWS=4 BLOCK_N=1024 STREAMING=0");
  EXPECT_EQ(text(table.find(DType::F32, 9, 513, 1000)),
            "norm_rows ROWS=4 BLOCK_N=1024 STREAMING=0");
  EXPECT_EQ(text(table.find(DType::F32, 9, 1000, 1001)),
            "norm_looped_rows ROWS=1 BLOCK_N=4096 STREAMING=1");
  EXPECT_EQ(text(table.find(DType::BF16, 9, 1000, 1)), "norm_rows");
  EXPECT_EQ(table.find(DType::BF16, 9, 1000, 1).get("ROWS"), 1);
  EXPECT_EQ(table.find(DType::F32, 9, 1000, 1001).get("BLOCK_N"), 4096);
  // No entry of this class.
  EXPECT_EQ(text(table.find(DType::F32, 9, 512, 1000)),
            "norm_rows ROWS=16 BLOCK_N=512 STREAMING=0");
  EXPECT_EQ(text(table.find(DType::F16, 9, 1024, 1000)),
            "norm_rows ROWS=16 BLOCK_N=1024 STREAMING=0");
}

TEST_F(Schedules, FormsAreOfTheSameClasses) {
  const ScheduleTable table = read(R"(SCHEDULES = {
    (torch.float32, 1024, False): (norm_rows, dict(ROWS=4, BLOCK_N=1024)),
}
# graph: recorded
FORMS = {
    (torch.float32, 1024, False): "graph",  # quickest
    (torch.float16, 64, True): 'eager',
    (torch.float16, 64, False): "launches"
}
)",
                                   rowKernels());
  EXPECT_EQ(table.find(DType::F32, 9, 1000, 1).form, "graph");
  EXPECT_EQ(table.find(DType::F32, 9, 1000, 1).get("ROWS"), 4);
  EXPECT_EQ(table.find(DType::F32, 9, 1000, (32 << 20) + 1).form, "launches");
  EXPECT_EQ(table.find(DType::F16, 9, 64, (32 << 20) + 1).form, "eager") << "by rule, with a form";
  EXPECT_EQ(table.find(DType::F16, 9, 64, 1).form, "launches");
  const nereid::Error error = errorOf(
      [&] { read("FORMS = {\n    (torch.float32, 8, False): \"quick\",\n}\n", rowKernels()); });
  EXPECT_EQ(error.what(), path +
                              ":2: the table expects one of 'launches', 'graph', 'eager', but got "
                              "'quick'");
}

TEST_F(Schedules, AreMadeByRuleWithoutATable) {
  const ScheduleTable rows = read("", rowKernels());
  EXPECT_EQ(text(rows.find(DType::F32, 3, 1, 32 << 20)), "norm_rows ROWS=4 BLOCK_N=16 STREAMING=0");
  EXPECT_EQ(text(rows.find(DType::F32, 100, 65536, (32 << 20) + 1)),
            "norm_rows ROWS=1 BLOCK_N=65536 STREAMING=1");
  EXPECT_EQ(text(rows.find(DType::F32, 100, 65537, 1)),
            "norm_looped_rows ROWS=1 BLOCK_N=4096 STREAMING=0");
  OperatorKernels kernels;
  kernels.tiles = "add_tiles";
  const ScheduleTable tiles = read("SCHEDULES = {\n}\n", kernels);
  EXPECT_EQ(text(tiles.find(DType::F32, 1, 5000, 1)),
            "add_tiles BLOCK_M=1 BLOCK_N=4096 GRID_2D=1 STREAMING=0");
  EXPECT_EQ(text(tiles.find(DType::F32, 5000, 3, 1)),
            "add_tiles BLOCK_M=1024 BLOCK_N=16 GRID_2D=1 STREAMING=0");
  kernels.flat = "add_flat";
  EXPECT_EQ(text(read("", kernels).find(DType::F32, 5000, 3, 1)),
            "add_flat BLOCK=16384 STREAMING=0");
}

TEST_F(Schedules, DamagedTablesAreRefusedWithTheirPlace) {
  const std::string entry = "SCHEDULES = {\n    (torch.float32, 8, False): (k, dict(ROWS=4)),\n}\n";
  EXPECT_EQ(text(read(entry, rowKernels()).find(DType::F32, 1, 8, 1)), "k ROWS=4");
  struct Damage {
    std::string from, to, said;
  };
  for (const auto &[from, to, said] :
       {Damage{"8", "2 ** 3", ":2: the table expects ',', but got '*'"},
        Damage{"ROWS=4", "ROWS=-4", ":2: the table expects a number, but got '-'"},
        Damage{"ROWS=4", "ROWS=1e3", ":2: the table expects a number, but got '1e3'"},
        Damage{"ROWS=4", "ROWS=99999999999999999999",
               ":2: the table expects a number, but got '99999999999999999999'"},
        Damage{"(k,", "(,", ":2: the table expects a name, but got ','"},
        Damage{"dict(", "Dict(", ":2: the table expects 'dict', but got 'Dict'"},
        Damage{"torch.", "tl.", ":2: the table expects 'torch', but got 'tl'"},
        Damage{"\n}", "", ":3: the table expects '(', but got ''"}}) {
    std::string damaged = entry;
    damaged.replace(damaged.find(from), from.size(), to);
    const nereid::Error error = errorOf([&] { read(damaged, rowKernels()); });
    EXPECT_EQ(error.what(), path + said);
    EXPECT_EQ(error.status(), NEREID_ERROR_FILE);
  }
  std::filesystem::remove(path);
  const nereid::Error error = errorOf([&] { ScheduleTable(path, rowKernels()); });
  EXPECT_EQ(error.what(), "cannot read '" + path + "'");
}

} // namespace
