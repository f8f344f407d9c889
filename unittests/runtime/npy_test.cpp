// SPDX-License-Identifier: Apache-2.0
// .npy files: bytes written by NumPy (spelled out here), round trips, damage.
#include "runtime/tensor/FileIo.h"
#include "runtime/tensor/NpyHeader.h"
#include "runtime/tensor/Tensor.h"

#include <algorithm>
#include <filesystem>
#include <fstream>
#include <gtest/gtest.h>
#include <random>
#include <sys/stat.h>
#include <unistd.h>

using namespace nereid;
using namespace nereid::runtime;

namespace {

class Npy : public ::testing::Test {
protected:
  std::string path = (std::filesystem::temp_directory_path() /
                      ("nereid_npy_" + std::to_string(::getpid()) + ".npy"))
                         .string();
  void TearDown() override { std::filesystem::remove(path); }

  std::variant<Tensor, std::string> load(const std::string &bytes) {
    std::ofstream(path, std::ios::binary) << bytes;
    return loadNpy(path);
  }
  static std::string file(const std::string &header, const std::string &elements,
                          char version = 1) {
    std::string text("\x93NUMPY", 6);
    text += version;
    text += '\0';
    text += static_cast<char>(header.size() & 255);
    text += static_cast<char>(header.size() >> 8);
    if (version == 2) {
      text += std::string(2, '\0');
    }
    return text + header + elements;
  }
  std::string problem(const std::string &bytes) {
    auto loaded = load(bytes);
    const std::string *text = std::get_if<std::string>(&loaded);
    return text ? *text : "";
  }
};

TEST_F(Npy, ReadsWhatNumpyWrites) {
  const std::string elements("\1\0\2\0\3\0\4\0\5\0\6\0", 12);
  const std::string header = "{'descr': '<i2', 'fortran_order': False, 'shape': (2, 3), }   \n";
  for (char version : {1, 2}) {
    auto loaded = load(file(header, elements, version));
    ASSERT_TRUE(std::holds_alternative<Tensor>(loaded)) << std::get<std::string>(loaded);
    const Tensor &tensor = std::get<Tensor>(loaded);
    EXPECT_EQ(tensor.shape(), (std::vector<int64_t>{2, 3}));
    EXPECT_EQ(tensor.dtype(), DType::I16);
    EXPECT_EQ(tensor.at(4), 5);
  }
  auto fortran =
      load(file("{'descr': '<i2', 'fortran_order': True, 'shape': (2, 3), }\n", elements));
  ASSERT_TRUE(std::holds_alternative<Tensor>(fortran));
  EXPECT_EQ(std::get<Tensor>(fortran).at(1), 3); // [0, 1] is the third in memory
  auto scalar = load(file("{'descr': '|u1', 'fortran_order': False, 'shape': ()}", "\x07"));
  ASSERT_TRUE(std::holds_alternative<Tensor>(scalar));
  EXPECT_EQ(std::get<Tensor>(scalar).at(0), 7);
}

TEST_F(Npy, EveryTypeAndShapeComesBack) {
  for (int i = 0; i < dtypeCount; ++i) {
    const DType type = static_cast<DType>(i);
    for (std::vector<int64_t> shape :
         {std::vector<int64_t>{}, {5}, {0, 4}, {3, 2, 2}, {1, 1, 1, 1, 1, 1, 1, 1}}) {
      const Tensor tensor = Tensor::empty(shape, type);
      fillIntegers(tensor, 3, 0, 2);
      const std::string failure = saveNpy(tensor, path);
      ASSERT_EQ(failure, "");
      auto loaded = loadNpy(path);
      ASSERT_TRUE(std::holds_alternative<Tensor>(loaded)) << std::get<std::string>(loaded);
      const Tensor &back = std::get<Tensor>(loaded);
      EXPECT_EQ(back.shape(), shape);
      const bool isBits = isFloat8(type) || type == DType::BF16; // NumPy has no name for them
      EXPECT_EQ(back.dtype(), isFloat8(type) ? DType::U8 : isBits ? DType::U16 : type);
      if (isBits) {
        const auto *got = back.as<uint8_t>(), *expected = tensor.as<uint8_t>();
        EXPECT_TRUE(std::equal(got, got + tensor.byteCount(), expected));
        continue;
      }
      for (int64_t k = 0; k < tensor.elementCount(); ++k) {
        EXPECT_EQ(back.at(k), tensor.at(k));
      }
    }
  }
  struct stat status{};
  ASSERT_EQ(::stat(path.c_str(), &status), 0);
  EXPECT_EQ(status.st_size % 64, 1) << "elements start at a multiple of 64";
}

TEST_F(Npy, DamageIsNamed) {
  const std::string good = "{'descr': '<f4', 'fortran_order': False, 'shape': (2,), }\n";
  EXPECT_NE(problem("").find("no .npy file"), std::string::npos);
  EXPECT_NE(problem("PK\3\4 and more").find("no .npy file"), std::string::npos);
  EXPECT_NE(problem(file(good, "1234567")).find("7 bytes follow"), std::string::npos);
  EXPECT_NE(problem(file(good, "123456789")).find("9 bytes follow"), std::string::npos);
  EXPECT_NE(problem(file(good, "12345678", 3)).find("but got 3"), std::string::npos);
  EXPECT_NE(problem(std::string("\x93NUMPY\1\0\xFF\xFF{", 11)).find("ends within"),
            std::string::npos);
  const auto header = [&](const std::string &text) { return problem(file(text, "12345678")); };
  EXPECT_NE(header("{'descr': '>f4', 'fortran_order': False, 'shape': (2,)}").find("'>f4'"),
            std::string::npos);
  EXPECT_NE(header("{'descr': [('a', '<f4')], 'fortran_order': False, 'shape': (2,)}"), "");
  EXPECT_NE(header("{'descr': '<f4', 'fortran_order': False}"), "");
  EXPECT_NE(header("{'descr': '<f4', 'fortran_order': False, 'shape': (-2,)}"), "");
  EXPECT_NE(header("{'descr': '<f4', 'fortran_order': 1, 'shape': (2,)}"), "");
  EXPECT_NE(header("{'descr': '<f4', 'shape': (2,), 'shape': (2,), 'fortran_order': False}"), "");
  const std::string huge = "4611686018427387904";
  EXPECT_NE(header("{'descr': '<f4', 'fortran_order': False, 'shape': (" + huge + "," + huge + ")}")
                .find("bytes follow"),
            std::string::npos);
  EXPECT_NE(header("{'descr': '<f4', 'fortran_order': False, 'shape': (99999999999999999999,)}"),
            "");
}

TEST_F(Npy, RandomDamageNeverCrashes) {
  const std::string header = "{'descr': '<f4', 'fortran_order': True, 'shape': (2, 1), }\n";
  const std::string good = file(header, "12345678");
  std::mt19937 random(5);
  const auto damage = [&random](std::string text) {
    for (unsigned flips = random() % 4 + 1; flips > 0; --flips) {
      text[random() % text.size()] = static_cast<char>(random());
    }
    return text;
  };
  for (int round = 0; round < 200; ++round) {
    load(damage(good));
  }
  int refused = 0;
  for (int round = 0; round < 20000; ++round) {
    refused += std::holds_alternative<std::string>(parseNpyHeader(damage(header)));
  }
  EXPECT_GT(refused, 10000);
}

TEST_F(Npy, MissingFilesAndFoldersAreErrors) {
  EXPECT_TRUE(std::holds_alternative<std::string>(loadNpy("/nonexistent/x.npy")));
  EXPECT_TRUE(std::holds_alternative<std::string>(loadNpy("/tmp")));
  EXPECT_NE(
      saveNpy(Tensor::empty({1}, DType::F32), "/nonexistent/x.npy").find("/nonexistent/x.npy"),
      std::string::npos);
  EXPECT_NE(saveNpy(Tensor(), path), "");
}

TEST_F(Npy, ReplacingKeepsPermissionsAndLeavesNoTemporary) {
  std::ofstream(path) << "former";
  ::chmod(path.c_str(), 0640);
  ASSERT_EQ(saveNpy(Tensor::empty({1}, DType::F32), path), "");
  struct stat status{};
  ASSERT_EQ(::stat(path.c_str(), &status), 0);
  EXPECT_EQ(status.st_mode & 0777, 0640u);
  for (const auto &entry :
       std::filesystem::directory_iterator(std::filesystem::temp_directory_path())) {
    EXPECT_EQ(entry.path().string().find(path + ".tmp"), std::string::npos);
  }
}

} // namespace
