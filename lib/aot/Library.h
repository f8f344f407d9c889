// SPDX-License-Identifier: Apache-2.0
// Kernels compiled ahead of time: one kernel in several specializations, each for several targets,
// with one typed launcher for C that chooses among them at run time. What runs later is the
// object and runtime/aot; neither the compiler nor Python.
#pragma once

#include "lib/aot/Interface.h"
#include "lib/language/syntax/Ast.h"
#include "lib/pipeline/Compiler.h"

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

namespace nereid::aot {

struct LibraryRequest {
  pipeline::CompileInput kernel; ///< its signature is not read
  std::vector<std::string> signatures;
  std::vector<std::string> targets; ///< "cpu:x86-64-v3"; empty = portableTargets(architecture)
  std::string architecture;         ///< of the host; empty = this machine's
  std::string chip;                 ///< see pipeline::CompileOptions
  std::string grid;                 ///< "cdiv(n, BLOCK)"; empty: the launcher takes the grid
  std::vector<std::string> gridArguments; ///< integers that only the grid needs
  std::vector<std::string> chosen;        ///< constants that the launcher does not ask for
  std::string name;                       ///< of the launcher; empty = the kernel's
  bool useCache = true;
};

struct CompiledTarget {
  std::string name, features; ///< "x86-64-v3", "+avx2,+fma"
  bool hasMachineCode = true; ///< else the device's driver compiles what there is
};

struct CompiledLibrary {
  std::string name, kernel, grid;
  Interface interface;
  std::vector<CompiledTarget> targets; ///< the ones that ask for more first
  std::string deviceRuntime;           ///< Target::deviceRuntime(); empty: code that the host runs
  std::vector<uint64_t> scratchBytes;  ///< by specialization, the most of any target
  std::vector<std::vector<std::string>>
      parts; ///< by specialization and target: which code, by name
  bool isBlocking = false;
  std::vector<std::string> sources; ///< absolute paths of the files it was compiled from
  std::vector<uint8_t> object;      ///< relocatable: machine code, table and launcher
};

/// What one binary for every machine of an architecture is compiled for; empty when that is none of
/// architectures().
std::vector<std::string> portableTargets(std::string_view architecture);
/// "x86-64", "aarch64", "riscv64".
std::vector<std::string> architectures();

/// Compiles everything. E0020 specializations, E0021 grid, E0022 targets, E0023 names, E0027 what a
/// device's machine code is made with; what the compiler says about a kernel comes with the
/// specialization it was compiled for.
std::optional<CompiledLibrary> compileLibrary(const LibraryRequest &request,
                                              const language::SourceModule &module,
                                              const language::FunctionDef &function,
                                              Diagnostics &diags);

/// Of the C functions that it defines.
std::vector<std::string> functionNames(const CompiledLibrary &library);

/// The C header.
std::string headerText(const CompiledLibrary &library);

enum class LibraryForm { Object, Static, Shared };

/// NAME-config.cmake, which makes the imported target NAME::NAME from `fileName` beside it.
/// `hasRuntime`: the library contains it.
std::string cmakeText(const CompiledLibrary &library, LibraryForm form, const std::string &fileName,
                      bool hasRuntime);

} // namespace nereid::aot
