// SPDX-License-Identifier: Apache-2.0
// The disk cache: what is kept, what counts as missing, who may have written, many processes.
#include "lib/support/DiskCache.h"

#include <filesystem>
#include <fstream>
#include <gtest/gtest.h>
#include <sys/stat.h>
#include <sys/time.h>
#include <sys/wait.h>
#include <unistd.h>

using namespace nereid;
namespace fs = std::filesystem;

namespace {

std::vector<uint8_t> bytes(const std::string &text) { return {text.begin(), text.end()}; }

class Cache : public ::testing::Test {
protected:
  fs::path base = fs::temp_directory_path() / ("nereid_cache_" + std::to_string(::getpid()));
  fs::path root = base / "root";
  void SetUp() override {
    fs::remove_all(base);
    fs::create_directories(base);
  }
  void TearDown() override { fs::remove_all(base); }

  static mode_t modeOf(const fs::path &path) {
    struct stat status{};
    return ::lstat(path.c_str(), &status) == 0 ? status.st_mode & 0777 : 0;
  }
  static void overwrite(const std::string &path, const std::string &content) {
    std::ofstream(path, std::ios::binary | std::ios::trunc) << content;
  }
  static std::string contentOf(const std::string &path) {
    std::ifstream file(path, std::ios::binary);
    return {std::istreambuf_iterator<char>(file), {}};
  }
};

TEST_F(Cache, KeepsValues) {
  DiskCache cache(root);
  EXPECT_EQ(cache.read("key"), std::nullopt);
  ASSERT_TRUE(cache.write("key", bytes("value")));
  ASSERT_TRUE(cache.write("empty", {}));
  EXPECT_EQ(cache.read("key"), bytes("value"));
  EXPECT_EQ(cache.read("empty"), bytes(""));
  EXPECT_EQ(cache.read("other"), std::nullopt);
  ASSERT_TRUE(cache.write("key", bytes("another")));
  EXPECT_EQ(DiskCache(root).read("key"), bytes("another")) << "a second process sees it";
  EXPECT_TRUE(cache.remove("key"));
  EXPECT_EQ(cache.read("key"), std::nullopt);
  EXPECT_EQ(cache.problem(), "");
}

TEST_F(Cache, IsPrivate) {
  const mode_t former = ::umask(0);
  DiskCache cache(root);
  ASSERT_TRUE(cache.write("key", bytes("value")));
  ::umask(former);
  EXPECT_EQ(modeOf(root), 0700u);
  EXPECT_EQ(modeOf(cache.directory()), 0700u);
  EXPECT_EQ(modeOf(cache.entryPath("key")), 0600u);
}

TEST_F(Cache, DamagedEntriesReadAsMissingAndAreRebuilt) {
  DiskCache cache(root);
  ASSERT_TRUE(cache.write("key", bytes("some value")));
  const std::string path = cache.entryPath("key"), good = contentOf(path);
  ASSERT_GT(good.size(), 10u);
  for (size_t length = 0; length < good.size(); ++length) {
    overwrite(path, good.substr(0, length));
    EXPECT_EQ(cache.read("key"), std::nullopt) << length;
  }
  overwrite(path, good + "x");
  EXPECT_EQ(cache.read("key"), std::nullopt);
  for (size_t i = 0; i < good.size(); ++i) {
    std::string damaged = good;
    damaged[i] = static_cast<char>(damaged[i] ^ 0x10);
    overwrite(path, damaged);
    EXPECT_EQ(cache.read("key"), std::nullopt) << i;
  }
  ASSERT_TRUE(cache.write("key", bytes("some value")));
  EXPECT_EQ(cache.read("key"), bytes("some value"));
}

TEST_F(Cache, AnEntryUnderAnotherNameIsNotUsed) {
  DiskCache cache(root);
  ASSERT_TRUE(cache.write("a", bytes("value of a")));
  fs::copy_file(cache.entryPath("a"), cache.entryPath("b"));
  EXPECT_EQ(cache.read("b"), std::nullopt);
}

TEST_F(Cache, WhatOthersMayWriteIsNotUsed) {
  for (mode_t loose : {mode_t{0020}, mode_t{0002}}) {
    for (const char *part : {"root", "root/kernels", "entry"}) {
      fs::remove_all(root);
      DiskCache writer(root);
      ASSERT_TRUE(writer.write("key", bytes("value")));
      const fs::path path =
          std::string(part) == "entry" ? fs::path(writer.entryPath("key")) : base / part;
      ASSERT_EQ(::chmod(path.c_str(), modeOf(path) | loose), 0);
      DiskCache cache(root);
      EXPECT_EQ(cache.read("key"), std::nullopt) << path;
      EXPECT_NE(cache.problem().find(path.string()), std::string::npos) << cache.problem();
      EXPECT_NE(cache.problem().find("other users may write"), std::string::npos);
      if (std::string(part) != "entry") {
        EXPECT_FALSE(cache.write("key", bytes("value")));
      }
    }
  }
}

TEST_F(Cache, WhatBelongsToAnotherUserIsNotUsed) {
  if (::geteuid() != 0) {
    GTEST_SKIP() << "only root can give a file to another user";
  }
  for (const char *part : {"root", "root/kernels", "entry"}) {
    fs::remove_all(root);
    DiskCache writer(root);
    ASSERT_TRUE(writer.write("key", bytes("value")));
    const fs::path path =
        std::string(part) == "entry" ? fs::path(writer.entryPath("key")) : base / part;
    ASSERT_EQ(::chown(path.c_str(), 12345, 12345), 0);
    DiskCache cache(root);
    EXPECT_EQ(cache.read("key"), std::nullopt) << path;
    EXPECT_NE(cache.problem().find("belongs to user 12345"), std::string::npos);
  }
}

TEST_F(Cache, LinksBelowTheRootAreNotFollowed) {
  DiskCache writer(root), elsewhere(base / "elsewhere");
  ASSERT_TRUE(writer.write("key", bytes("value")));
  ASSERT_TRUE(elsewhere.write("key", bytes("planted")));
  fs::remove(writer.entryPath("key"));
  fs::create_symlink(elsewhere.entryPath("key"), writer.entryPath("key"));
  EXPECT_EQ(writer.read("key"), std::nullopt);
  fs::remove_all(root / "kernels");
  fs::create_directory_symlink(base / "elsewhere" / "kernels", root / "kernels");
  DiskCache cache(root);
  EXPECT_EQ(cache.read("key"), std::nullopt);
  EXPECT_NE(cache.problem(), "");
}

TEST_F(Cache, AnImpossibleFolderOnlyCostsTime) {
  overwrite(base / "file", "x");
  for (const std::string &bad : {std::string(), (base / "file").string(),
                                 (base / "file" / "below").string(), std::string("/proc/nereid")}) {
    DiskCache cache(bad);
    EXPECT_FALSE(cache.write("key", bytes("value"))) << bad;
    EXPECT_EQ(cache.read("key"), std::nullopt);
    EXPECT_NE(cache.problem(), "") << bad;
  }
}

TEST_F(Cache, TrimsTheOldestFirst) {
  DiskCache cache(root, "kernels", 10000);
  for (int i = 0; i < 6; ++i) {
    const std::string key = "key" + std::to_string(i);
    ASSERT_TRUE(cache.write(key, std::vector<uint8_t>(1500)));
    // Key 0 is made the youngest, all others are older the smaller their number.
    const timeval when = {1000000000 + (i == 0 ? 1000 : i), 0};
    const timeval times[] = {when, when};
    ASSERT_EQ(::utimes(cache.entryPath(key).c_str(), times), 0);
  }
  ASSERT_TRUE(cache.write("last", std::vector<uint8_t>(1500)));
  EXPECT_FALSE(fs::exists(cache.entryPath("key1")));
  EXPECT_FALSE(fs::exists(cache.entryPath("key2")));
  EXPECT_TRUE(fs::exists(cache.entryPath("key0")));
  EXPECT_TRUE(fs::exists(cache.entryPath("last")));
  EXPECT_FALSE(cache.write("too large", std::vector<uint8_t>(20000)));
}

TEST_F(Cache, AHitRenewsAnOldEntry) {
  DiskCache cache(root);
  ASSERT_TRUE(cache.write("key", bytes("value")));
  const timeval old[] = {{1000000000, 0}, {1000000000, 0}};
  ASSERT_EQ(::utimes(cache.entryPath("key").c_str(), old), 0);
  ASSERT_TRUE(cache.read("key"));
  struct stat status{};
  ASSERT_EQ(::stat(cache.entryPath("key").c_str(), &status), 0);
  EXPECT_GT(status.st_mtime, 1500000000);
}

TEST_F(Cache, AbandonedTemporariesAreSwept) {
  DiskCache cache(root);
  ASSERT_TRUE(cache.write("key", bytes("value")));
  const std::string stale = cache.directory() + "/.tmp.1.1", live = cache.directory() + "/.tmp.2.2";
  overwrite(stale, "x");
  overwrite(live, "x");
  const timeval old[] = {{1000000000, 0}, {1000000000, 0}};
  ASSERT_EQ(::utimes(stale.c_str(), old), 0);
  cache.trim();
  EXPECT_FALSE(fs::exists(stale));
  EXPECT_TRUE(fs::exists(live));
}

/// A sweep of the folder is seen by an abandoned file that is gone.
TEST_F(Cache, IsLookedThroughOncePerShareOfWhatIsFree) {
  constexpr uint64_t limit = 200000, entry = 180;
  DiskCache cache(root, "kernels", limit);
  ASSERT_TRUE(cache.write("key", std::vector<uint8_t>(100)));
  const std::string stale = cache.directory() + "/.tmp.1.1";
  int written = 0;
  const auto writeUntilSwept = [&](int most) {
    overwrite(stale, "x");
    const timeval old[] = {{1000000000, 0}, {1000000000, 0}};
    EXPECT_EQ(::utimes(stale.c_str(), old), 0);
    int count = 0;
    for (; count < most && fs::exists(stale); ++count) {
      EXPECT_TRUE(cache.write("k" + std::to_string(written++), std::vector<uint8_t>(100)));
    }
    return count;
  };
  cache.trim();
  EXPECT_GE(writeUntilSwept(2000), static_cast<int>((limit - entry) / 4 / entry));
  for (int i = 0; i < 16; ++i) {
    writeUntilSwept(2000);
    uint64_t total = 0;
    for (const auto &each : fs::directory_iterator(root / "kernels")) {
      total += each.file_size();
    }
    EXPECT_LE(total, limit);
  }
  EXPECT_GT(written * entry, limit);
}

std::string valueFor(int key, int writer) {
  return "key " + std::to_string(key) + " of " +
         std::string(static_cast<size_t>(100 + 977 * writer), 'a' + static_cast<char>(writer));
}

TEST_F(Cache, ManyProcessesReadAndWriteTheSameKeys) {
  constexpr int processes = 8, keys = 5, rounds = 60;
  std::vector<pid_t> children;
  for (int writer = 0; writer < processes; ++writer) {
    const pid_t child = ::fork();
    ASSERT_GE(child, 0);
    if (child == 0) {
      ::alarm(60);
      // A limit that makes them trim under each other's feet as well.
      DiskCache cache(root, "kernels", 40000);
      for (int round = 0; round < rounds; ++round) {
        const int key = (round + writer) % keys;
        if (!cache.write("k" + std::to_string(key), bytes(valueFor(key, writer)))) {
          ::_exit(2);
        }
        const int other = (round * 3 + writer) % keys;
        const auto value = cache.read("k" + std::to_string(other));
        bool isKnown = !value;
        for (int source = 0; source < processes && !isKnown; ++source) {
          isKnown = *value == bytes(valueFor(other, source));
        }
        if (!isKnown) {
          ::_exit(3);
        }
      }
      ::_exit(0);
    }
    children.push_back(child);
  }
  for (pid_t child : children) {
    int status = 0;
    ASSERT_EQ(::waitpid(child, &status, 0), child);
    EXPECT_TRUE(WIFEXITED(status));
    EXPECT_EQ(WEXITSTATUS(status), 0);
  }
  for (const auto &entry : fs::directory_iterator(root / "kernels")) {
    EXPECT_FALSE(entry.path().filename().string().starts_with(".tmp.")) << entry.path();
  }
}

TEST(CacheDirectory, FollowsTheEnvironment) {
  const char *names[] = {"NEREID_CACHE_DIR", "XDG_CACHE_HOME", "HOME"};
  std::vector<std::optional<std::string>> former;
  for (const char *name : names) {
    const char *value = std::getenv(name);
    former.push_back(value ? std::optional<std::string>(value) : std::nullopt);
  }
  ::setenv("NEREID_CACHE_DIR", "/a", 1);
  ::setenv("XDG_CACHE_HOME", "/b", 1);
  ::setenv("HOME", "/c", 1);
  EXPECT_EQ(cacheDirectory(), "/a");
  ::unsetenv("NEREID_CACHE_DIR");
  EXPECT_EQ(cacheDirectory(), "/b/nereid");
  ::setenv("XDG_CACHE_HOME", "relative", 1);
  EXPECT_EQ(cacheDirectory(), "/c/.cache/nereid");
  ::unsetenv("HOME");
  EXPECT_EQ(cacheDirectory(), "");
  for (size_t i = 0; i < 3; ++i) {
    former[i] ? ::setenv(names[i], former[i]->c_str(), 1) : ::unsetenv(names[i]);
  }
}

} // namespace
