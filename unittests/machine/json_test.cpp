// SPDX-License-Identifier: Apache-2.0
// Descriptors of chips as files: what is read is what was written, and whatever no chip can have is
// a diagnostic that names file, key and value.
#include "lib/machine/Machine.h"
#include "lib/support/AtomicFile.h"

#include <gtest/gtest.h>
#include <nlohmann/json.hpp>

#include <random>

namespace nereid {
namespace {

using Json = nlohmann::ordered_json;

Json described() {
  Machine machine;
  machine.name = machine.fingerprint = "a chip";
  machine.architecture = "x86-64";
  machine.memoryBytes = 1 << 30;
  machine.caches = {{"L1d", 32768}, {"L2", 1 << 20}};
  machine.peakFlops["fp32"] = 2e11;
  machine.copyBandwidth = 3e10;
  return Json::parse(toJson(machine));
}

/// The message about `json`; empty when it is accepted.
std::string messageOf(const Json &json) {
  auto machine = machineFromJson(json.dump(), "some.json");
  if (machine) {
    return "";
  }
  EXPECT_EQ(machine.error().code, "E0701");
  EXPECT_NE(machine.error().message.find("some.json"), std::string::npos);
  EXPECT_FALSE(machine.error().help.empty());
  return machine.error().message;
}

/// The message when the value at `place`, a JSON pointer, is another one.
std::string messageWith(const char *place, const Json &value) {
  Json json = described();
  json[Json::json_pointer(place)] = value;
  return messageOf(json);
}

TEST(MachineJson, WhatIsReadIsWhatWasWritten) {
  Machine machine = detectMachine();
  EXPECT_GE(machine.cores, 1);
  machine.peakFlops["fp32"] = 2e11;
  auto again = machineFromJson(toJson(machine), "test");
  ASSERT_TRUE(static_cast<bool>(again)) << again.error().message;
  EXPECT_EQ(toJson(*again), toJson(machine));
  EXPECT_EQ(messageOf(described()), "");
}

TEST(MachineJson, NumbersThatNoChipHasAreNamed) {
  const std::vector<std::tuple<const char *, Json, std::string>> wrong = {
      {"/cores", 0, "expects a whole number from 1 to 1e+06 for 'cores', but got 0"},
      {"/cores", 2.5, "'cores', but got 2.5"},
      {"/cores", 1e300, "'cores', but got 1e+300"},
      {"/vector_bytes", 48, "expects a power of two for 'vector_bytes', but got 48"},
      {"/vector_bytes", -32, "'vector_bytes', but got -32"},
      {"/vector_bytes", 1 << 20, "'vector_bytes', but got 1048576"},
      {"/vector_registers", 0, "'vector_registers', but got 0"},
      {"/memory_bytes", -1, "'memory_bytes', but got -1"},
      {"/memory_bytes", UINT64_MAX, "'memory_bytes', but got 18446744073709551615"},
      {"/caches/1/bytes", 0, "'caches[1].bytes', but got 0"},
      {"/caches/0/bytes", -1, "'caches[0].bytes', but got -1"},
      {"/caches/0/shared_by", 0, "'caches[0].shared_by', but got 0"},
      {"/caches/0/bytes_per_second", -1, "'caches[0].bytes_per_second', but got -1"},
      {"/caches/1/name", "L1d", "a name of its own for each level for 'caches[1].name'"},
      {"/peak_flops/fp32", -1, "'peak_flops.fp32', but got -1"},
      {"/peak_flops/fp32", 1e19, "expects a rate from 0 to 1e+18 a second for 'peak_flops.fp32'"},
      {"/copy_bandwidth", -3e10, "'copy_bandwidth', but got -30000000000.0"},
      {"/read_bandwidth", 1e200, "'read_bandwidth', but got 1e+200"},
      {"/calibration/times", -1, "'calibration.times', but got -1"},
      {"/schema", 2, "expects 1 for 'schema', but got 2"},
  };
  for (const auto &[place, value, message] : wrong) {
    EXPECT_NE(messageWith(place, value).find(message), std::string::npos)
        << messageWith(place, value);
  }
}

TEST(MachineJson, OtherTypesAreNamed) {
  const std::vector<std::pair<const char *, Json>> wrong = {
      {"/schema", "1"},           {"/name", 3},
      {"/fingerprint", nullptr},  {"/architecture", Json::array()},
      {"/features", "avx2"},      {"/features/0", 7},
      {"/cores", "four"},         {"/caches", Json::object()},
      {"/caches/0", 32768},       {"/caches/0/bytes", "32K"},
      {"/peak_flops", 1e9},       {"/peak_flops/fp32", "fast"},
      {"/copy_bandwidth", true},  {"/best_copy", 1},
      {"/calibrated", "yes"},     {"/calibration", 5},
      {"/calibration/times", {}}, {"/calibration/uncertainty", false}};
  for (const auto &[place, value] : wrong) {
    EXPECT_NE(messageWith(place, value).find("but got"), std::string::npos) << place;
  }
}

TEST(MachineJson, KeysThatAreMissingAreNamed) {
  for (const char *key :
       {"schema", "name", "architecture", "cores", "vector_bytes", "vector_registers",
        "memory_bytes", "caches", "peak_flops", "copy_bandwidth"}) {
    Json json = described();
    json.erase(key);
    EXPECT_NE(messageOf(json).find("lacks the key '" + std::string(key) + "'"), std::string::npos);
  }
  Json json = described();
  json["caches"][1].erase("bytes");
  EXPECT_NE(messageOf(json).find("lacks the key 'caches[1].bytes'"), std::string::npos);
}

TEST(MachineJson, TextThatIsNoDescriptor) {
  for (const char *text : {"", "{", "[]", "3", "null", "{\"schema\": 1e999}", "\xff\xfe"}) {
    auto machine = machineFromJson(text, "some.json");
    ASSERT_FALSE(static_cast<bool>(machine));
    EXPECT_EQ(machine.error().code, "E0701");
  }
  EXPECT_EQ(messageWith("/name", 3).find("\n"), std::string::npos);
  EXPECT_LT(messageWith("/cores", std::string(1000000, 'x')).size(), 300u);
}

/// Whatever bytes are changed, it is read or refused, and what was read is read again.
TEST(MachineJson, DamagedFilesAreReadOrRefused) {
  std::mt19937 random(20261123);
  const std::string text = described().dump(1);
  const std::string tokens[] = {"0",    "-1",   "1e308", "null",
                                "{}",   "[",    "\"",    "999999999999999999999",
                                "\xff", "true", ",",     "0.5"};
  int refused = 0;
  for (int i = 0; i < 20000; ++i) {
    std::string damaged = text;
    for (unsigned changes = 1 + random() % 3; changes > 0; --changes) {
      const std::string &token = tokens[random() % std::size(tokens)];
      damaged.replace(random() % damaged.size(), random() % 8, token);
    }
    auto machine = machineFromJson(damaged, "damaged.json");
    refused += machine ? 0 : 1;
    if (machine) {
      EXPECT_TRUE(static_cast<bool>(machineFromJson(toJson(*machine), "again.json"))) << damaged;
    } else {
      EXPECT_EQ(machine.error().code, "E0701");
    }
  }
  EXPECT_GT(refused, 1000);
  EXPECT_LT(refused, 20000);
}

TEST(MachineJson, ThisMachineHasNoMoreCoresThanThereAre) {
  Machine machine = detectMachine();
  machine.cores += 1;
  const std::string path = testing::TempDir() + "/more_cores.json";
  ASSERT_TRUE(static_cast<bool>(writeFileAtomically(path, toJson(machine))));
  auto loaded = loadMachine(path);
  ASSERT_FALSE(static_cast<bool>(loaded));
  EXPECT_NE(loaded.error().message.find("'cores'"), std::string::npos) << loaded.error().message;
  machine.fingerprint = "another one";
  ASSERT_TRUE(static_cast<bool>(writeFileAtomically(path, toJson(machine))));
  EXPECT_TRUE(static_cast<bool>(loadMachine(path)));
}

} // namespace
} // namespace nereid
