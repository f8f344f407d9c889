// SPDX-License-Identifier: Apache-2.0
// Content-addressed files shared by many processes: compiled kernels. An entry is published by a
// rename, carries its length and checksum, and is used only when nobody but this user could have
// written it or any folder between the cache's root and it; whatever fails these tests reads as
// missing and is written again. A cache that cannot be written only costs time.
#pragma once

#include <atomic>
#include <cstdint>
#include <mutex>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

namespace nereid {

/// Root of everything kept between runs: NEREID_CACHE_DIR, else $XDG_CACHE_HOME/nereid, else
/// $HOME/.cache/nereid; empty when none of these is set. Not created by this call.
std::string cacheDirectory();

class DiskCache {
public:
  static constexpr uint64_t defaultLimitBytes = uint64_t{1} << 30;

  /// Entries live in `root`/`section`; both are created with mode 0700 at the first write. An
  /// empty root is a cache that holds nothing.
  explicit DiskCache(std::string root, std::string section = "kernels",
                     uint64_t limitBytes = defaultLimitBytes);
  /// cacheDirectory()/kernels, at most NEREID_CACHE_BYTES (default 1 GiB).
  static DiskCache &forKernels();

  /// Any text may be a key; it is hashed.
  std::optional<std::vector<uint8_t>> read(std::string_view key);
  bool write(std::string_view key, std::span<const uint8_t> value);
  bool remove(std::string_view key);
  /// Deletes the entries used longest ago until the rest fits into the limit; called by write.
  void trim();

  /// Where the entries are.
  const std::string &directory() const { return path; }
  /// File of a key, whether it exists or not.
  std::string entryPath(std::string_view key) const;
  /// Why the cache, or an entry of it, is not used; empty while all is well. The first problem
  /// stays, so that it is told once.
  std::string problem() const;

private:
  struct Folder;
  Folder open(bool create);
  int openPrivate(int parent, const std::string &name, bool create);
  bool isPrivate(int file, const std::string &name);
  void report(std::string text);
  bool needsTrim(uint8_t drawn, uint64_t bytes);

  std::string root, section, path;
  uint64_t limitBytes;
  std::atomic<int64_t> unlooked{-1}; ///< bytes that are written before the folder is looked through
  mutable std::mutex problemLock;
  std::string problemText;
};

} // namespace nereid
