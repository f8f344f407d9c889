// SPDX-License-Identifier: Apache-2.0
#include "lib/targets/nvidia/cuda/CudaCache.h"

#include "lib/support/AtomicFile.h"
#include "lib/support/DiskCache.h"
#include "lib/support/Hash.h"

#include <algorithm>
#include <filesystem>

namespace nereid::nvidia {
namespace {

bool addsFolders(const std::string &flag) {
  return flag.starts_with("-I") || flag.find("include") != flag.npos ||
         flag.starts_with("-isystem") || flag.starts_with("@");
}

} // namespace

std::optional<std::vector<std::string>> includesOf(std::string_view text) {
  std::vector<std::string> names;
  if (text.find("__has_include") != text.npos) {
    return std::nullopt;
  }
  for (size_t at = text.find('#'); at != text.npos; at = text.find('#', at + 1)) {
    size_t begin = text.find_first_not_of(" \t", at + 1);
    if (begin == text.npos || !text.substr(begin).starts_with("include")) {
      continue;
    }
    begin = text.find_first_not_of(" \t", begin + 7);
    const char open = begin == text.npos ? ' ' : text[begin];
    const size_t end = open == '"'   ? text.find('"', begin + 1)
                       : open == '<' ? text.find('>', begin + 1)
                                     : text.npos;
    if (end == text.npos) {
      return std::nullopt;
    }
    names.emplace_back(text.substr(begin + 1, end - begin - 1));
  }
  return names;
}

CudaCache::CudaCache(const CudaSource &source, const CudaCompiler &compiler, bool isUsed)
    : isUsed(isUsed && std::none_of(source.flags.begin(), source.flags.end(), addsFolders)) {
  const std::string folder = language::absolutePath(folderOfSource(source.path));
  this->isUsed = this->isUsed && addIncludes(source.text, folder);
  Sha256 hash;
  hash.field("cuda").field(compiler.identity()).field(source.architecture).field(folder);
  for (const auto &[name, value] : source.macros) {
    hash.field(name).field(value);
  }
  hash.field("flags");
  for (const std::string &flag : source.flags) {
    hash.field(flag);
  }
  hash.field("files");
  for (const language::FileState &file : files) {
    hash.field(file.path).field(file.digest);
  }
  hash.field(source.text);
  key = toHex(hash.finish());
}

bool CudaCache::addIncludes(std::string_view text, const std::string &folder) {
  const auto names = includesOf(text);
  if (!names) {
    return false;
  }
  for (const std::string &name : *names) {
    const std::string path = language::absolutePath(folder + "/" + name);
    const bool isKnown = std::any_of(files.begin(), files.end(),
                                     [&](const auto &file) { return file.path == path; });
    if (isKnown) {
      continue;
    }
    std::error_code ignored;
    if (!std::filesystem::is_regular_file(path, ignored)) {
      files.push_back({path, language::absentFile}); // of the toolkit, unless it appears here
      continue;
    }
    Result<std::string> content = readTextFile(path);
    if (!content) {
      return false;
    }
    files.push_back({path, toHex(sha256(*content))});
    // A header's own folder is looked at before the source's.
    const std::string own = std::filesystem::path(path).parent_path().string();
    if (!addIncludes(*content, own) || (own != folder && !addIncludes(*content, folder))) {
      return false;
    }
  }
  return true;
}

std::optional<std::string> CudaCache::find() const {
  auto bytes = isUsed ? DiskCache::forKernels().read(key) : std::nullopt;
  return bytes ? std::optional(std::string(bytes->begin(), bytes->end())) : std::nullopt;
}

void CudaCache::store(const std::string &ptx) const {
  if (isUsed) {
    DiskCache::forKernels().write(key, {reinterpret_cast<const uint8_t *>(ptx.data()), ptx.size()});
  }
}

} // namespace nereid::nvidia
