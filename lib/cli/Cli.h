// SPDX-License-Identifier: Apache-2.0
// The command line as a function. Exit status: 0 done, 1 a check failed, 2 bad usage or input,
// 70 a bug of ours.
#pragma once

namespace nereid::cli {

int run(int argc, char **argv);

} // namespace nereid::cli
