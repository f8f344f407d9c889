// SPDX-License-Identifier: Apache-2.0
// `nereid diff DIR`: which kind of change the edits of an operator's folder are.
#include "lib/cli/Command.h"
#include "lib/develop/edits/FolderDiff.h"

#include <CLI/CLI.hpp>
#include <fmt/format.h>
#include <nlohmann/json.hpp>

#include <memory>

namespace nereid::cli {
namespace {

void printJson(const std::string &directory, const develop::FolderDiff &diff) {
  nlohmann::ordered_json json;
  json["folder"] = directory;
  json["class"] = editClassName(diff.editClass());
  json["edits"] = nlohmann::ordered_json::array();
  for (const develop::FileEdit &edit : diff.edits) {
    nlohmann::ordered_json hunks = nlohmann::ordered_json::array();
    for (const develop::Hunk &hunk : edit.hunks) {
      hunks.push_back({{"line", hunk.lineAfter}, {"before", hunk.before}, {"after", hunk.after}});
    }
    json["edits"].push_back({{"file", edit.file},
                             {"class", editClassName(edit.editClass)},
                             {"missing", edit.isMissing},
                             {"reasons", edit.reasons},
                             {"lines", std::move(hunks)}});
  }
  json["must_follow"] = diff.followers;
  fmt::print("{}\n", json.dump(2, ' ', false, nlohmann::ordered_json::error_handler_t::replace));
}

void printText(const develop::FolderDiff &diff) {
  for (const develop::FileEdit &edit : diff.edits) {
    fmt::print("{}: {} change{}\n", edit.file, editClassName(edit.editClass),
               edit.isMissing ? " (missing)" : "");
    for (const std::string &reason : edit.reasons) {
      fmt::print("  {}\n", reason);
    }
    for (const develop::Hunk &hunk : edit.hunks) {
      fmt::print("  line {}:\n", hunk.lineAfter);
      for (const std::string &line : hunk.before) {
        fmt::print("    - {}\n", line);
      }
      for (const std::string &line : hunk.after) {
        fmt::print("    + {}\n", line);
      }
    }
  }
  if (diff.edits.empty()) {
    fmt::print("nothing was edited\n");
    return;
  }
  fmt::print("Class: {}\n", editClassName(diff.editClass()));
  fmt::print("Must follow: {}\n", diff.followers.empty()
                                      ? "nothing"
                                      : fmt::format("{}", fmt::join(diff.followers, ", ")));
}

} // namespace

void addDiff(CLI::App &app, Session &session) {
  auto directory = std::make_shared<std::string>();
  CLI::App *command = app.add_subcommand(
      "diff", "class of the edits in an operator's folder, and what must follow; exit 1 for any");
  command->add_option("folder", *directory, "DIR")->required();
  command->callback([directory, &session] {
    Diagnostics diags;
    auto diff = develop::diffFolder(*directory, diags);
    if (!diff) {
      return session.fail(diags, diff.error());
    }
    session.json ? printJson(*directory, *diff) : printText(*diff);
    session.status = diff->edits.empty() ? exitDone : exitCheckFailed;
  });
}

} // namespace nereid::cli
