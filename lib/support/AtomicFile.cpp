// SPDX-License-Identifier: Apache-2.0
// The runtime's file replacement with diagnostics in front.
#include "lib/support/AtomicFile.h"

#include "runtime/FileIo.h"

#include <filesystem>

namespace nereid {

Status writeFileAtomically(const std::string &path, std::span<const uint8_t> content) {
  const std::span<const uint8_t> pieces[] = {content};
  std::string problem = runtime::replaceFile(path, pieces);
  if (!problem.empty()) {
    std::error_code error;
    const bool isFolder = std::filesystem::is_directory(path, error);
    return makeError("E0002", std::move(problem))
        .withHelp(isFolder ? "name a file in that folder"
                           : "write to a folder that exists and where you may create files");
  }
  return Done{};
}

Status writeFileAtomically(const std::string &path, std::string_view content) {
  return writeFileAtomically(
      path, std::span(reinterpret_cast<const uint8_t *>(content.data()), content.size()));
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
