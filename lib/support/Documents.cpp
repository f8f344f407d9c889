// SPDX-License-Identifier: Apache-2.0
#include "lib/support/Documents.h"

#include <cctype>
#include <dlfcn.h>
#include <filesystem>
#include <link.h>

namespace nereid {
namespace {

namespace fs = std::filesystem;

/// The file of the program or library that holds this function.
std::string ownModule() {
  Dl_info info;
  void *map = nullptr;
  const bool isFound =
      ::dladdr1(reinterpret_cast<void *>(&ownModule), &info, &map, RTLD_DL_LINKMAP);
  const char *name = isFound && map ? static_cast<link_map *>(map)->l_name : "";
  std::error_code failed;
  fs::path path = *name ? fs::absolute(name, failed) : fs::read_symlink("/proc/self/exe", failed);
  return failed ? std::string() : path.string();
}

/// Empty when it is at none of its places, or the module is not known. lib/ may have a folder for
/// each architecture.
std::string find(const fs::path &module, std::string_view name,
                 bool (*isWanted)(const fs::path &, std::error_code &)) {
  if (module.empty()) {
    return {};
  }
  const fs::path folder = module.parent_path();
  for (const char *place : {"../share/nereid", "../../share/nereid", "../.."}) {
    const fs::path path = folder / place / name;
    std::error_code failed;
    if (isWanted(path, failed)) {
      fs::path found = fs::canonical(path, failed);
      return failed ? std::string() : found.string();
    }
  }
  return {};
}

bool belongsToPath(char letter) {
  return std::isalnum(static_cast<unsigned char>(letter)) ||
         std::string_view("/._-").find(letter) != std::string_view::npos;
}

bool isDocument(std::string_view word) {
  return (word.starts_with("docs/") && word.ends_with(".md")) ||
         (word.starts_with("chips/") && word.ends_with(".json"));
}

} // namespace

std::string withDocumentsOf(std::string_view module, std::string_view text) {
  std::string result;
  for (size_t at = 0; at < text.size();) {
    size_t end = at;
    while (end < text.size() && belongsToPath(text[end])) {
      ++end;
    }
    std::string_view word = text.substr(at, end - at);
    std::string_view stop = word.ends_with('.') ? "." : "";
    word.remove_suffix(stop.size());
    const std::string path = isDocument(word) ? find(module, word, fs::is_regular_file) : "";
    result += path.empty() ? word : path;
    result += stop;
    if (end < text.size()) {
      result += text[end++];
    }
    at = end;
  }
  return result;
}

std::string withDocuments(std::string_view text) {
  static const std::string module = ownModule();
  return withDocumentsOf(module, text);
}

std::string shippedFolder(std::string_view name) {
  return find(ownModule(), name, fs::is_directory);
}

} // namespace nereid
