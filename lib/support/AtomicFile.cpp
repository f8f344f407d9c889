// SPDX-License-Identifier: Apache-2.0
// The runtime's file replacement with diagnostics in front.
#include "lib/support/AtomicFile.h"

#include "runtime/tensor/FileIo.h"

#include <filesystem>

namespace nereid {

static Status replace(const std::string &path, std::span<const uint8_t> content,
                      runtime::AtLink atLink) {
  const std::span<const uint8_t> pieces[] = {content};
  std::string problem = runtime::replaceFile(path, pieces, atLink);
  if (!problem.empty()) {
    std::error_code error;
    const bool isFolder = std::filesystem::is_directory(path, error);
    return makeError("E0002", std::move(problem))
        .withHelp(isFolder ? "name a file in that folder"
                           : "write to a folder that exists and where you may create files");
  }
  return Done{};
}

static std::span<const uint8_t> bytesOf(std::string_view content) {
  return {reinterpret_cast<const uint8_t *>(content.data()), content.size()};
}

Status writeFileAtomically(const std::string &path, std::span<const uint8_t> content) {
  return replace(path, content, runtime::AtLink::Follow);
}

Status writeFileAtomically(const std::string &path, std::string_view content) {
  return writeFileAtomically(path, bytesOf(content));
}

Status writeOwnFile(const std::string &path, std::string_view content) {
  if (Status isOwn = refuseLink(path); !isOwn) {
    return isOwn;
  }
  return replace(path, bytesOf(content), runtime::AtLink::Refuse);
}

Status refuseLink(const std::string &path) {
  if (!runtime::isLink(path)) {
    return Done{};
  }
  std::error_code error;
  const std::string target = std::filesystem::read_symlink(path, error).string();
  return makeError("E0005", "expects a file, but '" + path + "' is a link to '" + target + "'")
      .withHelp("remove the link, or choose another folder");
}

static Result<std::vector<uint8_t>> readAtMost(const std::string &path, uint64_t mostBytes) {
  std::variant<std::vector<uint8_t>, std::string> content = runtime::readFile(path, mostBytes);
  if (std::string *problem = std::get_if<std::string>(&content)) {
    return makeError("E0001", std::move(*problem));
  }
  return std::move(std::get<std::vector<uint8_t>>(content));
}

Result<std::vector<uint8_t>> readBinaryFile(const std::string &path) {
  return readAtMost(path, UINT64_MAX);
}

Result<std::string> readTextFile(const std::string &path, uint64_t mostBytes) {
  Result<std::vector<uint8_t>> bytes = readAtMost(path, mostBytes);
  if (!bytes) {
    return bytes.error();
  }
  return std::string(bytes->begin(), bytes->end());
}

Status createFolders(const std::string &path) {
  std::error_code error;
  std::filesystem::create_directories(path, error);
  if (error || !std::filesystem::is_directory(path, error)) {
    return makeError("E0003", "cannot create the folder '" + path +
                                  "': " + (error ? error.message() : "it is a file"));
  }
  return Done{};
}

} // namespace nereid
