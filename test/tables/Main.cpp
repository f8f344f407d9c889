// SPDX-License-Identifier: Apache-2.0
// The tables as tests, on the interpreter and this machine's CPU, or on --engines=NAME;NAME.
#include "lib/targets/Targets.h"
#include "test/tables/Kernel.h"

#include <gtest/gtest.h>

#include <cstdio>
#include <sstream>

int main(int argc, char **argv) {
  nereid::registerTargets();
  testing::InitGoogleTest(&argc, argv);
  std::string names = "interpreter;cpu";
  for (int i = 1; i < argc; ++i) {
    if (std::string_view(argv[i]).starts_with("--engines=")) {
      names = std::string(argv[i]).substr(10);
    }
  }
  std::istringstream list(names);
  for (std::string name, problem; std::getline(list, name, ';');) {
    auto engine = nereid::conformance::Engine::start(name, problem);
    if (!engine) {
      std::fprintf(stderr, "%s\n", problem.c_str());
      return 2;
    }
    nereid::tables::engines().push_back(std::move(engine));
  }
  return RUN_ALL_TESTS();
}
