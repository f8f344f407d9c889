// SPDX-License-Identifier: Apache-2.0
// Files named by the hash of their key: a header of 80 bytes (magic, length, hash of the key, hash
// of the value), then the value. Folders are walked with openat and without following links below
// the root, so what was checked is what is used.
#include "lib/support/DiskCache.h"

#include "lib/support/Hash.h"

#include <algorithm>
#include <atomic>
#include <cerrno>
#include <charconv>
#include <cstdlib>
#include <cstring>
#include <dirent.h>
#include <fcntl.h>
#include <sys/stat.h>
#include <tuple>
#include <unistd.h>
#include <utility>

namespace nereid {
namespace {

constexpr char magic[8] = {'N', 'E', 'R', 'E', 'I', 'D', 'C', '1'};

struct Header {
  char magic[8];
  uint64_t bytes;
  Digest key, value;
};
static_assert(sizeof(Header) == 80);

class Descriptor {
public:
  explicit Descriptor(int number = -1) : number(number) {}
  Descriptor(Descriptor &&other) noexcept : number(std::exchange(other.number, -1)) {}
  Descriptor &operator=(Descriptor &&other) noexcept {
    std::swap(number, other.number);
    return *this;
  }
  ~Descriptor() {
    if (number >= 0) {
      ::close(number);
    }
  }
  int get() const { return number; }
  explicit operator bool() const { return number >= 0; }

private:
  int number;
};

bool readAll(int file, void *into, uint64_t bytes) {
  char *place = static_cast<char *>(into);
  while (bytes > 0) {
    const ssize_t got = ::read(file, place, bytes);
    if (got < 0 && errno == EINTR) {
      continue;
    }
    if (got <= 0) {
      return false;
    }
    place += got;
    bytes -= static_cast<uint64_t>(got);
  }
  return true;
}

bool writeAll(int file, const void *from, uint64_t bytes) {
  const char *place = static_cast<const char *>(from);
  while (bytes > 0) {
    const ssize_t done = ::write(file, place, bytes);
    if (done < 0 && errno == EINTR) {
      continue;
    }
    if (done <= 0) {
      return false;
    }
    place += done;
    bytes -= static_cast<uint64_t>(done);
  }
  return true;
}

/// mkdir -p with mode 0700 for what is missing.
bool createPath(const std::string &path) {
  for (size_t slash = path.find('/', 1);; slash = path.find('/', slash + 1)) {
    const std::string part = path.substr(0, slash);
    if (::mkdir(part.c_str(), 0700) != 0 && errno != EEXIST) {
      // A parent that exists but is not ours to write (EROFS, EACCES) may still lead further.
      struct stat status{};
      if (::stat(part.c_str(), &status) != 0 || !S_ISDIR(status.st_mode)) {
        return false;
      }
    }
    if (slash == std::string::npos) {
      return true;
    }
  }
}

std::string fileName(std::string_view key) { return toHex(sha256(key)); }

std::string environment(const char *name) {
  const char *value = std::getenv(name);
  return value ? value : "";
}

uint64_t limitFromEnvironment() {
  const std::string text = environment("NEREID_CACHE_BYTES");
  uint64_t value = 0;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), value);
  const bool isNumber = !text.empty() && error == std::errc() && end == text.data() + text.size();
  return isNumber ? value : DiskCache::defaultLimitBytes;
}

/// A hit renews an entry's date once an hour, so that "oldest" means "not used for longest".
constexpr time_t renewSeconds = 3600;
/// A temporary file this old was left by a process that ended while writing.
constexpr time_t abandonedSeconds = 3600;

} // namespace

struct DiskCache::Folder : Descriptor {
  using Descriptor::Descriptor;
};

std::string cacheDirectory() {
  if (const std::string chosen = environment("NEREID_CACHE_DIR"); !chosen.empty()) {
    return chosen;
  }
  // The XDG specification ignores relative paths.
  if (const std::string base = environment("XDG_CACHE_HOME"); !base.empty() && base[0] == '/') {
    return base + "/nereid";
  }
  const std::string home = environment("HOME");
  return home.empty() ? "" : home + "/.cache/nereid";
}

DiskCache::DiskCache(std::string root, std::string section, uint64_t limitBytes)
    : root(std::move(root)), section(std::move(section)), limitBytes(limitBytes) {
  while (this->root.size() > 1 && this->root.back() == '/') {
    this->root.pop_back();
  }
  path = this->root.empty() ? "" : this->root + "/" + this->section;
  if (this->root.empty()) {
    report("there is no cache: none of NEREID_CACHE_DIR, XDG_CACHE_HOME and HOME is set");
  }
}

DiskCache &DiskCache::forKernels() {
  static DiskCache *cache = new DiskCache(cacheDirectory(), "kernels", limitFromEnvironment());
  return *cache;
}

std::string DiskCache::entryPath(std::string_view key) const { return path + "/" + fileName(key); }

std::string DiskCache::problem() const {
  std::lock_guard<std::mutex> hold(problemLock);
  return problemText;
}

void DiskCache::report(std::string text) {
  std::lock_guard<std::mutex> hold(problemLock);
  if (problemText.empty()) {
    problemText = std::move(text);
  }
}

bool DiskCache::isPrivate(int file, const std::string &name) {
  struct stat status{};
  if (::fstat(file, &status) != 0) {
    report("'" + name + "' is not used as a cache: " + std::strerror(errno));
    return false;
  }
  if (status.st_uid != ::geteuid()) {
    report("'" + name + "' is not used as a cache: it belongs to user " +
           std::to_string(status.st_uid) + ", but this is user " + std::to_string(::geteuid()));
    return false;
  }
  if (status.st_mode & (S_IWGRP | S_IWOTH)) {
    report("'" + name + "' is not used as a cache: other users may write to it; run 'chmod go-w " +
           name + "' if they never did");
    return false;
  }
  return true;
}

/// Opens one folder below the root; a link in its place is refused.
int DiskCache::openPrivate(int parent, const std::string &name, bool create) {
  const std::string full = root + "/" + name;
  constexpr int flags = O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC;
  int folder = ::openat(parent, name.c_str(), flags);
  if (folder < 0 && errno == ENOENT && create) {
    ::mkdirat(parent, name.c_str(), 0700);
    folder = ::openat(parent, name.c_str(), flags);
  }
  if (folder < 0) {
    if (errno != ENOENT || create) {
      report("'" + full + "' is not used as a cache: " +
             (errno == ELOOP || errno == ENOTDIR ? "it is no folder" : std::strerror(errno)));
    }
    return -1;
  }
  if (!isPrivate(folder, full)) {
    ::close(folder);
    return -1;
  }
  return folder;
}

DiskCache::Folder DiskCache::open(bool create) {
  if (root.empty()) {
    return Folder();
  }
  if (create) {
    createPath(root);
  }
  // The root itself may be a link its owner made: what it leads to is checked.
  Descriptor folder(::open(root.c_str(), O_RDONLY | O_DIRECTORY | O_CLOEXEC));
  if (!folder) {
    if (errno != ENOENT || create) {
      report("'" + root + "' is not used as a cache: " + std::strerror(errno));
    }
    return Folder();
  }
  if (!isPrivate(folder.get(), root)) {
    return Folder();
  }
  return Folder(openPrivate(folder.get(), section, create));
}

std::optional<std::vector<uint8_t>> DiskCache::read(std::string_view key) {
  const Folder folder = open(false);
  if (!folder) {
    return std::nullopt;
  }
  const std::string name = fileName(key);
  const Descriptor file(
      ::openat(folder.get(), name.c_str(), O_RDONLY | O_NOFOLLOW | O_NONBLOCK | O_CLOEXEC));
  struct stat status{};
  if (!file || ::fstat(file.get(), &status) != 0 || !S_ISREG(status.st_mode) ||
      !isPrivate(file.get(), path + "/" + name)) {
    return std::nullopt;
  }
  Header header;
  if (static_cast<uint64_t>(status.st_size) < sizeof header ||
      !readAll(file.get(), &header, sizeof header) ||
      std::memcmp(header.magic, magic, sizeof magic) != 0 ||
      header.bytes != static_cast<uint64_t>(status.st_size) - sizeof header ||
      header.key != sha256(key)) {
    return std::nullopt;
  }
  std::vector<uint8_t> value(header.bytes);
  if (!readAll(file.get(), value.data(), value.size()) || header.value != sha256(value)) {
    return std::nullopt;
  }
  if (::time(nullptr) - status.st_mtime > renewSeconds) {
    ::futimens(file.get(), nullptr);
  }
  return value;
}

bool DiskCache::write(std::string_view key, std::span<const uint8_t> value) {
  static std::atomic<unsigned> counter{0};
  const Folder folder = open(true);
  if (!folder || value.size() + sizeof(Header) > limitBytes) {
    return false;
  }
  const Digest keyDigest = sha256(key);
  const std::string name = toHex(keyDigest);
  const std::string temporary =
      ".tmp." + std::to_string(::getpid()) + "." + std::to_string(counter.fetch_add(1));
  ::unlinkat(folder.get(), temporary.c_str(), 0);
  const int flags = O_WRONLY | O_CREAT | O_EXCL | O_NOFOLLOW | O_CLOEXEC;
  Descriptor file(::openat(folder.get(), temporary.c_str(), flags, 0600));
  if (!file) {
    report("nothing is kept in '" + path + "': " + std::strerror(errno));
    return false;
  }
  Header header{{}, value.size(), keyDigest, sha256(value)};
  std::memcpy(header.magic, magic, sizeof magic);
  // Without fsync: after a crash an unfinished entry fails its checksum and is made again, while
  // waiting for the disk would cost more than most compilations.
  if (!writeAll(file.get(), &header, sizeof header) ||
      !writeAll(file.get(), value.data(), value.size()) ||
      ::renameat(folder.get(), temporary.c_str(), folder.get(), name.c_str()) != 0) {
    report("nothing is kept in '" + path + "': " + std::strerror(errno));
    ::unlinkat(folder.get(), temporary.c_str(), 0);
    return false;
  }
  if (needsTrim(keyDigest[0], value.size() + sizeof(Header))) {
    trim();
  }
  return true;
}

/// Looking through a folder of many entries takes longer than compiling a kernel: it is spread over
/// many writes until it was done once, and then over those that fill a part of what was free, as
/// other processes fill it, too.
bool DiskCache::needsTrim(uint8_t drawn, uint64_t bytes) {
  if (bytes > limitBytes / 32) {
    return true;
  }
  const auto written = static_cast<int64_t>(bytes);
  const int64_t left = unlooked.load() < 0 ? -1 : unlooked.fetch_sub(written) - written;
  return left < 0 && (drawn & 31) == 0;
}

bool DiskCache::remove(std::string_view key) {
  const Folder folder = open(false);
  return folder && ::unlinkat(folder.get(), fileName(key).c_str(), 0) == 0;
}

void DiskCache::trim() {
  const Folder folder = open(false);
  DIR *list = folder ? ::fdopendir(::dup(folder.get())) : nullptr;
  if (!list) {
    return;
  }
  struct Entry {
    timespec used;
    uint64_t bytes;
    std::string name;
  };
  std::vector<Entry> entries;
  uint64_t total = 0;
  const time_t now = ::time(nullptr);
  while (const dirent *found = ::readdir(list)) {
    const std::string name = found->d_name;
    struct stat status{};
    if (::fstatat(folder.get(), name.c_str(), &status, AT_SYMLINK_NOFOLLOW) != 0 ||
        !S_ISREG(status.st_mode)) {
      continue;
    }
    if (name.starts_with(".tmp.")) {
      if (now - status.st_mtime > abandonedSeconds) {
        ::unlinkat(folder.get(), name.c_str(), 0);
      }
      continue;
    }
    if (name.size() == 2 * std::tuple_size_v<Digest>) {
      total += static_cast<uint64_t>(status.st_size);
      entries.push_back({status.st_mtim, static_cast<uint64_t>(status.st_size), name});
    }
  }
  ::closedir(list);
  const auto leaveRoom = [&] { // for the writes until it is looked through again
    unlooked = static_cast<int64_t>((limitBytes - std::min(total, limitBytes)) / 4);
  };
  if (total <= limitBytes - limitBytes / 32) {
    leaveRoom();
    return;
  }
  std::sort(entries.begin(), entries.end(), [](const Entry &a, const Entry &b) {
    return std::tie(a.used.tv_sec, a.used.tv_nsec, a.name) <
           std::tie(b.used.tv_sec, b.used.tv_nsec, b.name);
  });
  // Some room is left, so that the next write does not trim again.
  const uint64_t goal = limitBytes - limitBytes / 8;
  for (const Entry &entry : entries) {
    if (total <= goal) {
      break;
    }
    if (::unlinkat(folder.get(), entry.name.c_str(), 0) == 0) {
      total -= entry.bytes;
    }
  }
  leaveRoom();
}

} // namespace nereid
