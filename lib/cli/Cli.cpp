// SPDX-License-Identifier: Apache-2.0
// Assembles the commands. Everything a command does lives in its own file.
#include "lib/cli/Cli.h"

#include "lib/cli/Command.h"
#include "lib/support/Version.h"
#include "lib/targets/cpu/CpuTarget.h"

#include <CLI/CLI.hpp>
#include <fmt/format.h>

#include <cstdio>

namespace nereid::cli {

void Session::fail(const Diagnostics &diags) {
  fmt::print(stderr, "{}", json ? diags.renderJson() + "\n" : diags.render());
  status = exitBadInput;
  for (const auto &diagnostic : diags.all()) {
    if (diagnostic.code == "E0390") {
      status = exitInternal;
    }
  }
}

void Session::fail(const Diagnostic &diagnostic) {
  Diagnostics diags;
  diags.add(diagnostic);
  fail(diags);
}

KernelReference parseKernelReference(const std::string &text) {
  size_t colon = text.rfind(':');
  size_t slash = text.rfind('/');
  bool hasFunction = colon != std::string::npos && (slash == std::string::npos || colon > slash);
  return hasFunction ? KernelReference{text.substr(0, colon), text.substr(colon + 1)}
                     : KernelReference{text, ""};
}

int run(int argc, char **argv) {
  cpu::registerCpuTarget();
  Session session;
  CLI::App app{"nereid: operators from definition to verified, timed, tuned kernels", "nereid"};
  app.require_subcommand(1);
  app.set_version_flag("--version", "nereid " + versionText());
  app.add_flag("--json", session.json, "print results and diagnostics as JSON");
  app.fallthrough();
  addDevelop(app, session);
  addGenerate(app, session);
  addVerify(app, session);
  addBench(app, session);
  addOptimize(app, session);
  addCompile(app, session);
  addRun(app, session);
  addInformation(app, session);
  try {
    app.parse(argc, argv);
  } catch (const CLI::ParseError &error) {
    return app.exit(error) == 0 ? exitDone : exitBadInput;
  }
  std::fflush(stdout);
  return session.status;
}

} // namespace nereid::cli
