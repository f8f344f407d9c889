// SPDX-License-Identifier: Apache-2.0
#include "lib/cli/Cli.h"

int nereid::cli::run(int argc, char **argv) { return 2; }
