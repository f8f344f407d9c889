// SPDX-License-Identifier: Apache-2.0
// Whole-file reading and replacement by rename, on POSIX calls.
#include "runtime/tensor/FileIo.h"

#include <atomic>
#include <cerrno>
#include <cstdlib>
#include <cstring>
#include <fcntl.h>
#include <new>
#include <sys/stat.h>
#include <unistd.h>

namespace nereid::runtime {
namespace {

std::string failure(const char *action, const std::string &path, int error) {
  return std::string("cannot ") + action + " '" + path + "': " + std::strerror(error);
}

std::string writeAll(int file, std::span<const uint8_t> bytes, const std::string &path) {
  while (!bytes.empty()) {
    const ssize_t done = ::write(file, bytes.data(), bytes.size());
    if (done < 0 && errno == EINTR) {
      continue;
    }
    if (done <= 0) {
      return failure("write", path, done < 0 ? errno : EIO);
    }
    bytes = bytes.subspan(static_cast<size_t>(done));
  }
  return {};
}

std::string folderOf(const std::string &path) {
  const size_t slash = path.rfind('/');
  return slash == std::string::npos ? "." : slash == 0 ? "/" : path.substr(0, slash);
}

/// The file a symbolic link leads to, so that replacing it keeps the link.
std::string resolved(const std::string &path) {
  char *real = ::realpath(path.c_str(), nullptr);
  if (!real) {
    return path;
  }
  std::string text = real;
  ::free(real);
  return text;
}

} // namespace

bool isLink(const std::string &path) {
  struct stat status{};
  return ::lstat(path.c_str(), &status) == 0 && S_ISLNK(status.st_mode);
}

std::string replaceFile(const std::string &requested,
                        std::span<const std::span<const uint8_t>> pieces, AtLink atLink) {
  static std::atomic<unsigned> counter{0};
  // A link that appears after this is replaced by the rename and not followed.
  if (atLink == AtLink::Refuse && isLink(requested)) {
    return failure("write", requested, ELOOP);
  }
  const std::string path = atLink == AtLink::Follow ? resolved(requested) : requested;
  struct stat former{};
  const bool hasFormer = ::stat(path.c_str(), &former) == 0;
  if (hasFormer && !S_ISREG(former.st_mode)) {
    if (S_ISDIR(former.st_mode)) {
      return failure("write", requested, EISDIR);
    }
    // A device or pipe (/dev/stdout, /dev/null) is written in place.
    const int device = ::open(path.c_str(), O_WRONLY | O_CLOEXEC);
    if (device < 0) {
      return failure("write", requested, errno);
    }
    std::string problem;
    for (size_t i = 0; i < pieces.size() && problem.empty(); ++i) {
      problem = writeAll(device, pieces[i], requested);
    }
    ::close(device);
    return problem;
  }
  const std::string temporary =
      path + ".tmp." + std::to_string(::getpid()) + "." + std::to_string(counter.fetch_add(1));
  ::unlink(temporary.c_str());
  const int file =
      ::open(temporary.c_str(), O_WRONLY | O_CREAT | O_EXCL | O_NOFOLLOW | O_CLOEXEC, 0666);
  if (file < 0) {
    return failure("write", requested, errno);
  }
  std::string problem;
  if (hasFormer && ::fchmod(file, former.st_mode & 0777) != 0) {
    problem = failure("set the permissions of", requested, errno);
  }
  for (size_t i = 0; i < pieces.size() && problem.empty(); ++i) {
    problem = writeAll(file, pieces[i], requested);
  }
  if (problem.empty() && ::fsync(file) != 0 && errno != EINVAL && errno != ENOSYS) {
    problem = failure("write", requested, errno);
  }
  if (::close(file) != 0 && problem.empty()) {
    problem = failure("write", requested, errno);
  }
  if (problem.empty() && ::rename(temporary.c_str(), path.c_str()) != 0) {
    problem = failure("write", requested, errno);
  }
  if (!problem.empty()) {
    ::unlink(temporary.c_str());
    return problem;
  }
  const int folder = ::open(folderOf(path).c_str(), O_RDONLY | O_DIRECTORY | O_CLOEXEC);
  if (folder >= 0) {
    ::fsync(folder); // a file system without it still has the renamed file
    ::close(folder);
  }
  return {};
}

std::variant<std::vector<uint8_t>, std::string> readFile(const std::string &path,
                                                         uint64_t mostBytes) {
  // Without O_NONBLOCK, opening a named pipe would wait for a writer.
  const int file = ::open(path.c_str(), O_RDONLY | O_CLOEXEC | O_NONBLOCK);
  if (file < 0) {
    return failure("read", path, errno);
  }
  struct stat status{};
  if (::fstat(file, &status) != 0 || !S_ISREG(status.st_mode)) {
    const std::string reason = S_ISDIR(status.st_mode) ? "it is a folder" : "it is not a file";
    ::close(file);
    return "cannot read '" + path + "': " + reason;
  }
  if (static_cast<uint64_t>(status.st_size) > mostBytes) {
    ::close(file);
    return "cannot read '" + path + "': expects at most " + std::to_string(mostBytes) +
           " bytes, but got " + std::to_string(status.st_size);
  }
  std::vector<uint8_t> bytes;
  try {
    bytes.resize(static_cast<size_t>(status.st_size));
    size_t filled = 0;
    for (;;) {
      if (filled == bytes.size()) {
        // Files such as those in /proc state no size.
        uint8_t extra[4096];
        const ssize_t more = ::read(file, extra, sizeof extra);
        if (more < 0 && errno == EINTR) {
          continue;
        }
        if (more <= 0) {
          break;
        }
        bytes.insert(bytes.end(), extra, extra + more);
        filled = bytes.size();
        continue;
      }
      const ssize_t got = ::read(file, bytes.data() + filled, bytes.size() - filled);
      if (got < 0 && errno == EINTR) {
        continue;
      }
      if (got < 0) {
        const int error = errno;
        ::close(file);
        return failure("read", path, error);
      }
      if (got == 0) {
        bytes.resize(filled);
        break;
      }
      filled += static_cast<size_t>(got);
    }
  } catch (const std::bad_alloc &) {
    ::close(file);
    return failure("read", path, ENOMEM);
  }
  ::close(file);
  return bytes;
}

} // namespace nereid::runtime
