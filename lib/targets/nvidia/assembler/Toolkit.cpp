// SPDX-License-Identifier: Apache-2.0
#include "lib/targets/nvidia/assembler/Toolkit.h"

#include <algorithm>
#include <cstdlib>
#include <filesystem>
#include <unistd.h>

namespace nereid::nvidia {
namespace {

/// "cuda-12.4" stands before "cuda-11.8" and "cuda-9.0".
bool isNewer(const std::filesystem::path &a, const std::filesystem::path &b) {
  const std::string left = a.filename(), right = b.filename();
  return left.size() != right.size() ? left.size() > right.size() : left > right;
}

} // namespace

std::string environmentText(const char *variable) {
  const char *value = std::getenv(variable);
  return value ? value : "";
}

bool isProgram(const std::string &path) {
  std::error_code ignored;
  return std::filesystem::is_regular_file(path, ignored) && ::access(path.c_str(), X_OK) == 0;
}

std::vector<std::string> toolkits() {
  std::vector<std::string> result;
  for (const char *variable : {"CUDA_HOME", "CUDA_PATH"}) {
    if (std::string folder = environmentText(variable); !folder.empty()) {
      result.push_back(std::move(folder));
    }
  }
  result.insert(result.end(), {"/usr/local/cuda", "/opt/cuda"});
  std::vector<std::filesystem::path> versions;
  std::error_code ignored;
  for (const auto &entry : std::filesystem::directory_iterator("/usr/local", ignored)) {
    if (entry.path().filename().string().starts_with("cuda-")) {
      versions.push_back(entry.path());
    }
  }
  std::sort(versions.begin(), versions.end(), isNewer);
  result.insert(result.end(), versions.begin(), versions.end());
  return result;
}

std::string findToolkitProgram(const std::string &name) {
  std::vector<std::string> folders;
  const std::string path = environmentText("PATH");
  for (size_t start = 0; start < path.size();) {
    const size_t end = std::min(path.find(':', start), path.size());
    folders.push_back(path.substr(start, end - start));
    start = end + 1;
  }
  for (const std::string &toolkit : toolkits()) {
    folders.push_back(toolkit + "/bin");
  }
  for (const std::string &folder : folders) {
    if (std::string file = folder + "/" + name; isProgram(file)) {
      return file;
    }
  }
  return "";
}

} // namespace nereid::nvidia
