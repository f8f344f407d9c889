// SPDX-License-Identifier: Apache-2.0
#include "lib/definition/Shipped.h"

#include "lib/support/Documents.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <cctype>
#include <cstdlib>
#include <filesystem>

namespace nereid::definition {
namespace {

namespace fs = std::filesystem;

/// Paths of the definitions below a folder, in order; none of one that cannot be read.
std::vector<fs::path> definitionsBelow(const std::string &folder) {
  std::vector<fs::path> found;
  std::error_code failed;
  const auto way = fs::directory_options::skip_permission_denied;
  for (fs::recursive_directory_iterator at(folder, way, failed), end; !failed && at != end;
       at.increment(failed)) {
    std::error_code unknown;
    if (at->path().extension() == ".toml" && at->is_regular_file(unknown)) {
      found.push_back(at->path());
    }
  }
  std::sort(found.begin(), found.end());
  return found;
}

} // namespace

bool isOperatorName(std::string_view text) {
  return !text.empty() && std::all_of(text.begin(), text.end(), [](char letter) {
    return std::isalnum(static_cast<unsigned char>(letter)) != 0 || letter == '_';
  });
}

std::vector<std::string> operatorFolders() {
  std::vector<std::string> folders;
  const char *given = std::getenv("NEREID_OPERATOR_PATH");
  for (std::string_view rest = given ? given : ""; !rest.empty();) {
    const size_t colon = std::min(rest.find(':'), rest.size());
    if (colon > 0) {
      folders.emplace_back(rest.substr(0, colon));
    }
    rest.remove_prefix(std::min(colon + 1, rest.size()));
  }
  if (std::string shipped = shippedFolder("operators"); !shipped.empty()) {
    folders.push_back(std::move(shipped));
  }
  return folders;
}

Result<std::string> findOperator(std::string_view name, const std::vector<std::string> &folders) {
  std::vector<std::string> known;
  for (const std::string &folder : folders) {
    for (const fs::path &path : definitionsBelow(folder)) {
      if (path.stem() == name) {
        return path.string();
      }
      known.push_back(path.stem().string());
    }
  }
  Diagnostic error = makeError("E0601", fmt::format("there is no operator '{}'", name));
  error.note(folders.empty() ? "no folder with operators was found beside the program or library"
                             : fmt::format("looked in {}", fmt::join(folders, ", ")));
  const std::vector<std::string> nearest = nearestNames(name, known);
  return error.withHelp(nearest.empty()
                            ? "give the path of a definition, or name its folder in "
                              "NEREID_OPERATOR_PATH"
                            : fmt::format("did you mean '{}'?", fmt::join(nearest, "', '")));
}

} // namespace nereid::definition
