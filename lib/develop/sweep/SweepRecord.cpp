// SPDX-License-Identifier: Apache-2.0
#include "lib/develop/sweep/SweepRecord.h"

#include "lib/support/AtomicFile.h"
#include "lib/support/Interrupt.h"

#include <fmt/format.h>

#include <cerrno>
#include <chrono>
#include <cstring>
#include <filesystem>
#include <thread>
#include <utility>

#include <fcntl.h>
#include <sys/file.h>
#include <unistd.h>

namespace nereid::develop {

using Json = nlohmann::ordered_json;

namespace {

constexpr const char *lockName = "/sweep.lock";
/// What an interrupted process may take to end, and some.
constexpr std::chrono::milliseconds longestWait{5000}, betweenTries{50};

} // namespace

std::optional<SweepRecord> readSweepRecord(const std::string &folder) {
  auto text = readTextFile(folder + "/" + SweepRecord::fileName);
  const Json json = text ? Json::parse(*text, nullptr, false) : Json();
  if (!json.is_object()) {
    return std::nullopt;
  }
  try {
    auto result = readOperatorResult(json.at("result"));
    if (json.at("schema") != SweepRecord::schemaVersion || !result) {
      return std::nullopt;
    }
    return SweepRecord{json.at("digest"), json.at("fresh"), std::move(*result)};
  } catch (const Json::exception &) {
    return std::nullopt;
  }
}

bool isTakenUp(const std::string &folder) {
  namespace fs = std::filesystem;
  std::error_code none, missing;
  const auto ours = fs::last_write_time(folder + "/" + SweepRecord::fileName, none);
  const auto own = fs::last_write_time(folder + "/nereid.json", missing);
  return !none && !missing && own > ours;
}

Status writeSweepRecord(const std::string &folder, const SweepRecord &record) {
  if (Status made = createFolders(folder); !made) {
    return made;
  }
  const Json json = {{"schema", SweepRecord::schemaVersion},
                     {"digest", record.digest},
                     {"fresh", record.isFresh},
                     {"result", toJson(record.result)}};
  return writeOwnFile(folder + "/" + SweepRecord::fileName, json.dump(2) + "\n");
}

Result<SweepLock> SweepLock::take(const std::string &folder) {
  const std::string path = folder + lockName;
  // Without O_CLOEXEC: the processes of the operators hold it as well.
  const int file = ::open(path.c_str(), O_RDWR | O_CREAT | O_NOFOLLOW, 0666); // NOLINT
  if (file < 0) {
    return makeError("E0002", fmt::format("cannot write '{}': {}", path, std::strerror(errno)))
        .withHelp("write to a folder where you may create files");
  }
  SweepLock lock(file);
  const auto end = std::chrono::steady_clock::now() + longestWait;
  while (::flock(file, LOCK_EX | LOCK_NB) != 0) {
    if (errno != EWOULDBLOCK && errno != EINTR) {
      break; // a file system without locks
    }
    if (std::chrono::steady_clock::now() >= end || isInterrupted()) {
      return makeError("E0706", fmt::format("another process develops into '{}'", folder))
          .withHelp("wait until it has ended, or choose another folder with --out");
    }
    std::this_thread::sleep_for(betweenTries);
  }
  return lock;
}

SweepLock::SweepLock(SweepLock &&other) noexcept : file(std::exchange(other.file, -1)) {}

SweepLock::~SweepLock() {
  if (file >= 0) {
    ::close(file);
  }
}

} // namespace nereid::develop
