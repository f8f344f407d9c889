// SPDX-License-Identifier: Apache-2.0
#include "lib/support/AtomicFile.h"
#include "lib/support/RunProgram.h"
#include "lib/support/TemporaryFolder.h"

#include <gtest/gtest.h>

#include <filesystem>

namespace nereid {
namespace {

TEST(RunProgram, KeepsTheStatusAndWhatIsPrinted) {
  TemporaryFolder folder;
  ASSERT_TRUE(folder.made());
  const std::string log = folder.path + "/log";
  EXPECT_EQ(runProgram({"sh", "-c", "echo out; echo err >&2; exit 3"}, log), 3);
  EXPECT_EQ(*readTextFile(log), "out\nerr\n");
  EXPECT_EQ(runProgram({"sh", "-c", "kill -9 $$"}, log), 1);
  EXPECT_EQ(runProgram({"no-such-program-anywhere"}, log), 127);
}

TEST(TemporaryFolder, GoesWithWhatIsInIt) {
  std::string path;
  {
    TemporaryFolder folder;
    ASSERT_TRUE(folder.made());
    path = folder.path;
    ASSERT_TRUE(writeFileAtomically(path + "/file", std::string_view("text")));
    EXPECT_TRUE(std::filesystem::exists(path + "/file"));
  }
  EXPECT_FALSE(std::filesystem::exists(path));
}

TEST(TemporaryFolder, SaysWhereItCannotBe) {
  const char *before = std::getenv("TMPDIR");
  const std::string kept = before ? before : "";
  ::setenv("TMPDIR", "/no/such/folder", 1);
  TemporaryFolder folder;
  before ? ::setenv("TMPDIR", kept.c_str(), 1) : ::unsetenv("TMPDIR");
  const Status made = folder.made();
  ASSERT_FALSE(made);
  EXPECT_EQ(made.error().code, "E0003");
  EXPECT_EQ(made.error().message.find("cannot create a folder '/no/such/folder/nereid-"), 0u);
}

} // namespace
} // namespace nereid
