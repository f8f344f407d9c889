// SPDX-License-Identifier: Apache-2.0
// Random programs, interpreter against CPU target, to the last bit. A difference is made smaller by
// dropping lines and written to a file; the exit status is then 1.
//   program_fuzz [--count N] [--seed S] [--processor NAME] [--jobs J] [--out DIR] [--only TEXT]
#include "lib/targets/Targets.h"
#include "test/fuzz/Campaign.h"

#include <CLI/CLI.hpp>

#include <cstdlib>
#include <thread>

int main(int argc, char **argv) {
  nereid::registerTargets();
  nereid::fuzz::CampaignOptions options;
  options.workers = std::max(1u, std::thread::hardware_concurrency());
  CLI::App app{"random kernels, interpreter against a target"};
  app.add_option("--seed", options.seed, "of the first program");
  app.add_option("--count", options.count, "programs");
  app.add_option("--processor", options.engine,
                 "cpu, cpu:x86-64-v3, …, or one of " + nereid::conformance::Engine::knownNames());
  app.add_option("--jobs", options.workers, "processes")->check(CLI::Range(1, 256));
  app.add_option("--out", options.folder, "folder for programs that fail");
  app.add_option("--only", options.only, "programs with a class whose text contains this");
  app.add_option("--failures", options.mostFailures, "after which the run ends");
  app.add_flag("--print", options.printsPrograms, "show every program");
  app.add_flag("--table", options.printsTable, "show how many programs have each class");
  CLI11_PARSE(app, argc, argv);
  // The processes are the threads; a pool of one runs neighbouring programs in one call.
  ::setenv("NEREID_THREADS", "1", 0);
  return nereid::fuzz::runCampaign(options);
}
