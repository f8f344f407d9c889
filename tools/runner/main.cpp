// SPDX-License-Identifier: Apache-2.0
// nereid-runner: runs kernels that `nereid run --runner` sends it, on this machine. It needs
// nothing but the C library and can be linked statically; what kernels print goes to standard
// error.
#include "runtime/cpu/CpuFeatures.h"
#include "runtime/remote/Server.h"

#include <csignal>
#include <cstdio>
#include <cstring>
#include <unistd.h>

static int printFeatures() {
  std::printf("%s:", std::string(nereid::runtime::cpuArchitecture()).c_str());
  for (const std::string &feature : nereid::runtime::presentCpuFeatures()) {
    std::printf(" %s", feature.c_str());
  }
  std::printf("\n");
  return 0;
}

int main(int argc, char **argv) {
  if (argc == 2 && std::strcmp(argv[1], "--features") == 0) {
    return printFeatures();
  }
  if (argc != 1 || ::isatty(0)) {
    std::fputs("usage: nereid-runner [--features]\n"
               "Run by `nereid run --runner`, which speaks with it through standard input and\n"
               "output. --features prints what this processor offers to kernels.\n",
               stderr);
    return 2;
  }
  std::signal(SIGPIPE, SIG_IGN);
  const int output = ::dup(1);
  ::dup2(2, 1);
  return nereid::runtime::remote::serve(0, output);
}
