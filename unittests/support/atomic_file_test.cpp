// SPDX-License-Identifier: Apache-2.0
// Atomic replacement: content, errors with their codes, and readers that never see half a file.
#include "lib/support/AtomicFile.h"

#include <filesystem>
#include <gtest/gtest.h>
#include <sys/wait.h>
#include <unistd.h>

using namespace nereid;
namespace fs = std::filesystem;

namespace {

class AtomicFile : public ::testing::Test {
protected:
  fs::path folder = fs::temp_directory_path() / ("nereid_atomic_" + std::to_string(::getpid()));
  void SetUp() override { fs::create_directories(folder); }
  void TearDown() override { fs::remove_all(folder); }
  size_t fileCount() const {
    return static_cast<size_t>(std::distance(fs::directory_iterator(folder), {}));
  }
};

TEST_F(AtomicFile, WritesAndReplaces) {
  const std::string path = folder / "result.json";
  ASSERT_TRUE(writeFileAtomically(path, std::string_view("first")));
  ASSERT_TRUE(writeFileAtomically(path, std::string_view("second\0part", 11)));
  const auto content = readTextFile(path);
  ASSERT_TRUE(content);
  EXPECT_EQ(*content, std::string("second\0part", 11));
  EXPECT_EQ(fileCount(), 1u);
}

TEST_F(AtomicFile, ErrorsNameTheFile) {
  const std::string inside = folder / "missing" / "x.txt";
  const Status status = writeFileAtomically(inside, std::string_view("x"));
  ASSERT_FALSE(status);
  EXPECT_EQ(status.error().code, "E0002");
  EXPECT_NE(status.error().message.find(inside), std::string::npos);
  const Status toFolder = writeFileAtomically(folder, std::string_view("x"));
  ASSERT_FALSE(toFolder);
  EXPECT_EQ(toFolder.error().help, "name a file in that folder");
  const auto read = readTextFile(inside);
  ASSERT_FALSE(read);
  EXPECT_EQ(read.error().code, "E0001");
  EXPECT_FALSE(readBinaryFile(folder));
  EXPECT_FALSE(readBinaryFile("/dev/zero"));
}

TEST_F(AtomicFile, CreatesFolders) {
  EXPECT_TRUE(createFolders(folder / "a" / "b"));
  EXPECT_TRUE(createFolders(folder / "a" / "b"));
  ASSERT_TRUE(writeFileAtomically(folder / "file", std::string_view("x")));
  const Status status = createFolders(folder / "file" / "below");
  ASSERT_FALSE(status);
  EXPECT_EQ(status.error().code, "E0003");
  EXPECT_FALSE(createFolders(folder / "file"));
}

TEST_F(AtomicFile, LinksAreKeptAndFollowed) {
  ASSERT_TRUE(writeFileAtomically(folder / "real", std::string_view("a")));
  fs::create_symlink(folder / "real", folder / "link");
  ASSERT_TRUE(writeFileAtomically(folder / "link", std::string_view("b")));
  EXPECT_TRUE(fs::is_symlink(folder / "link"));
  EXPECT_EQ(*readTextFile(folder / "real"), "b");
}

TEST_F(AtomicFile, ReadersSeeOneVersionOrTheOther) {
  const std::string path = folder / "shared";
  const std::string a(100000, 'a'), b(50000, 'b');
  ASSERT_TRUE(writeFileAtomically(path, a));
  const pid_t writer = ::fork();
  if (writer == 0) {
    for (int round = 0; round < 40; ++round) {
      if (!writeFileAtomically(path, round % 2 ? a : b)) {
        ::_exit(1);
      }
    }
    ::_exit(0);
  }
  int status = 0;
  while (::waitpid(writer, &status, WNOHANG) == 0) {
    const auto content = readTextFile(path);
    ASSERT_TRUE(content);
    ASSERT_TRUE(*content == a || *content == b) << content->size();
  }
  EXPECT_EQ(status, 0);
}

} // namespace
