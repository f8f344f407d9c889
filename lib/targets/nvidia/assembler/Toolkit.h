// SPDX-License-Identifier: Apache-2.0
// Where programs and libraries of NVIDIA's toolkit may be on this machine. Nothing needs them; what
// can use them looks here.
#pragma once

#include <string>
#include <vector>

namespace nereid::nvidia {

/// The folders into which toolkits are installed, in the order in which they are looked at: those
/// of CUDA_HOME and CUDA_PATH, then /usr/local/cuda, /opt/cuda and /usr/local/cuda-*, the newest
/// first.
std::vector<std::string> toolkits();

/// The file of this name that can be run in the folders of PATH or in the `bin` of a toolkit; empty
/// without one.
std::string findToolkitProgram(const std::string &name);

/// A regular file that may be run.
bool isProgram(const std::string &path);

/// Of the environment; empty where it is not set.
std::string environmentText(const char *variable);

} // namespace nereid::nvidia
