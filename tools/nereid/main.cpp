// SPDX-License-Identifier: Apache-2.0
// Entry of the command line: all commands live in lib/cli.
#include "lib/cli/Cli.h"

int main(int argc, char **argv) { return nereid::cli::run(argc, argv); }
