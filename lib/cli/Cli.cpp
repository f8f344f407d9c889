// SPDX-License-Identifier: Apache-2.0
// Assembles the commands. Everything a command does lives in its own file.
#include "lib/cli/Cli.h"

#include "lib/cli/Command.h"
#include "lib/cli/process/FaultReport.h"
#include "lib/cli/process/StandardStreams.h"
#include "lib/support/Version.h"
#include "lib/targets/Targets.h"

#include <CLI/CLI.hpp>
#include <fmt/format.h>

#include <algorithm>
#include <cctype>
#include <cerrno>
#include <charconv>
#include <cstdint>
#include <cstdio>
#include <cstring>
#include <new>
#include <set>
#include <system_error>

namespace nereid::cli {

void Session::fail(const Diagnostics &diags) {
  printError(json ? diags.renderJson() + "\n" : diags.render());
  status = exitBadInput;
  for (const auto &diagnostic : diags.all()) {
    if (diagnostic.code == "E0390") {
      status = exitInternal;
    }
    if (!failure && diagnostic.severity == Severity::Error) {
      failure = diagnostic;
    }
  }
}

void Session::fail(const Diagnostic &diagnostic) {
  Diagnostics diags;
  diags.add(diagnostic);
  fail(diags);
}

void Session::fail(const Diagnostics &diags, const Diagnostic &otherwise) {
  diags.hasErrors() ? fail(diags) : fail(otherwise);
}

void printWarnings(const Diagnostics &diags) {
  static std::set<std::string> printed;
  for (const Diagnostic &diagnostic : diags.all()) {
    const bool isKernels = diagnostic.code == "R0204" || diagnostic.code == "R0205";
    if (isKernels || diagnostic.severity == Severity::Warning) {
      std::string text = render(diagnostic);
      if (printed.insert(text).second) {
        printError(text);
      }
    }
  }
}

CLI::Validator between(double low, double high) {
  auto refusal = [low, high](std::string &text) {
    double value = 0;
    const bool isInside = CLI::detail::lexical_cast(text, value) && value >= low && value <= high;
    return isInside ? "" : fmt::format("Value {} not in range [{} - {}]", text, low, high);
  };
  return {refusal, fmt::format("FLOAT in [{} - {}]", low, high)};
}

CLI::Validator wholeNumber() {
  auto refusal = [](std::string &text) {
    uint64_t value = 0;
    const auto [end, failed] = std::from_chars(text.data(), text.data() + text.size(), value);
    const bool isWhole = failed == std::errc() && end == text.data() + text.size();
    return isWhole ? "" : fmt::format("Value {} not in range [0 - {}]", text, UINT64_MAX);
  };
  return {refusal, ""};
}

namespace {

/// The name that was probably meant by the first word that is no command.
Diagnostic usageError(const CLI::App &app, const CLI::ParseError &error, int argc, char **argv) {
  std::string message = error.what();
  std::replace(message.begin(), message.end(), '\n', ' ');
  if (!message.empty() && message.size() > 1 && std::islower(message[1]) != 0) {
    message[0] = static_cast<char>(std::tolower(message[0]));
  }
  while (!message.empty() && (message.back() == '.' || message.back() == ' ')) {
    message.pop_back();
  }
  auto chosen = app.get_subcommands();
  std::vector<std::string> names;
  for (const CLI::App *command : app.get_subcommands(nullptr)) {
    names.push_back(command->get_name());
  }
  std::string word;
  for (int i = 1; i < argc && word.empty() && chosen.empty(); ++i) {
    word = argv[i][0] == '-' ? "" : argv[i];
  }
  if (!word.empty()) {
    message = fmt::format("there is no command '{}'", word);
  }
  auto result = makeError("E0013", message);
  auto near = nearestNames(word, names);
  if (!word.empty() && !near.empty()) {
    result.note(fmt::format("nearest command: '{}'", near[0]));
  }
  return result.withHelp(chosen.empty() ? "nereid --help lists the commands"
                                        : fmt::format("nereid {} --help lists its options",
                                                      chosen.front()->get_name()));
}

/// What was printed has not arrived: neither said in silence nor taken for a bug.
void failOutput(Session &session, const std::string &reason) {
  session.fail(makeError("E0004", "standard output cannot be written: " + reason)
                   .withHelp("give it room, or write to a file elsewhere"));
}

Diagnostic noMemory() {
  return makeError("E0506", "no memory is left")
      .withHelp("use smaller shapes, or raise the limit of memory; what is done is kept");
}

Diagnostic unexpected(const std::exception &error) {
  return makeError("E0390", fmt::format("an unexpected failure: {}", error.what()))
      .withHelp("this is a bug in nereid; please report it with the command line");
}

} // namespace

void addBlocking(CLI::App &command) {
  command.add_flag_callback(
      "--blocking", [] { setenv("NEREID_BLOCKING", "1", 1); },
      "launches on a device wait for their kernel, so that the one that fails is named; for "
      "debugging: times of the host are longer");
}

void addImportPaths(CLI::App &command, Session &session) {
  command
      .add_option("--import-path", session.importPaths,
                  "folder in which a kernel's imports are looked for; may be repeated")
      ->allow_extra_args(false)
      ->type_name("DIR");
}

int run(int argc, char **argv) {
  prepareStandardStreams();
  reportFaults();
  registerTargets();
  Session session;
  CLI::App app{"nereid: operators from definition to verified, timed, tuned kernels", "nereid"};
  app.require_subcommand(1);
  app.set_version_flag("--version", "nereid " + versionText());
  app.add_flag("--json", session.json, "print results and diagnostics as JSON");
  app.fallthrough();
  addDefine(app, session);
  addDevelop(app, session);
  addGenerate(app, session);
  addDiff(app, session);
  addVerify(app, session);
  addBench(app, session);
  addProfile(app, session);
  addTune(app, session);
  addCalibrate(app, session);
  addOptimize(app, session);
  addCompile(app, session);
  addRun(app, session);
  addCheck(app, session);
  addExplainLayout(app, session);
  addAnalyze(app, session);
  addImport(app, session);
  addInformation(app, session);
  try {
    app.parse(argc, argv);
  } catch (const CLI::Success &request) { // --help and --version
    session.status = app.exit(request);
  } catch (const CLI::ParseError &error) {
    session.fail(usageError(app, error, argc, argv));
  } catch (const std::bad_alloc &) {
    session.fail(noMemory());
  } catch (const std::system_error &error) {
    if (std::ferror(stdout) != 0) {
      failOutput(session, error.code().message());
      return session.status;
    }
    session.fail(isNoMemory(error) ? noMemory() : unexpected(error));
  } catch (const std::exception &error) {
    session.fail(unexpected(error));
  }
  if (std::fflush(stdout) != 0 || std::ferror(stdout) != 0) {
    failOutput(session, std::strerror(errno));
  }
  return session.status;
}

} // namespace nereid::cli
