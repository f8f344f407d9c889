# SPDX-License-Identifier: Apache-2.0
# Language level, warnings, linker and build-type defaults for every target of this project. None
# goes into the cache, which belongs to a project around this one.
if(NOT CMAKE_CXX_COMPILER_ID MATCHES "Clang" OR CMAKE_CXX_COMPILER_VERSION VERSION_LESS 16)
  message(FATAL_ERROR "Nereid expects Clang 16 or newer, but CMAKE_CXX_COMPILER is "
                      "${CMAKE_CXX_COMPILER_ID} ${CMAKE_CXX_COMPILER_VERSION}: configure with "
                      "-DCMAKE_CXX_COMPILER=clang++-19 -DCMAKE_C_COMPILER=clang-19, or use an "
                      "installed Nereid by find_package(nereid), which takes any compiler")
endif()
set(CMAKE_CXX_STANDARD 20)
set(CMAKE_CXX_STANDARD_REQUIRED ON)
set(CMAKE_CXX_EXTENSIONS OFF)
set(CMAKE_EXPORT_COMPILE_COMMANDS ON)
if(NOT CMAKE_BUILD_TYPE AND NOT CMAKE_CONFIGURATION_TYPES)
  set(CMAKE_BUILD_TYPE Release)
endif()
set(CMAKE_RUNTIME_OUTPUT_DIRECTORY ${PROJECT_BINARY_DIR}/bin)
set(CMAKE_LIBRARY_OUTPUT_DIRECTORY ${PROJECT_BINARY_DIR}/lib)
set(CMAKE_ARCHIVE_OUTPUT_DIRECTORY ${PROJECT_BINARY_DIR}/lib)

# The packaged LLVM is built with NDEBUG; mixing changes type sizes, so every build defines it and
# our own checks do not use assert().
set(CMAKE_CXX_FLAGS_RELEASE "-O2 -DNDEBUG")
add_compile_definitions($<$<NOT:$<CONFIG:Release>>:NDEBUG>)
add_compile_options(-Wall -Wextra -Wno-unused-parameter -ffunction-sections -fdata-sections
                    -fvisibility=hidden -fvisibility-inlines-hidden)
# Every object goes into both the program (no-pie) and the shared library.
set(CMAKE_POSITION_INDEPENDENT_CODE ON)
add_link_options(-fuse-ld=lld-19 -Wl,--gc-sections -Wl,--as-needed)

set(NEREID_SANITIZE "" CACHE STRING "Sanitizers for every target, e.g. address,undefined")
if(NEREID_SANITIZE)
  # No check of virtual tables: half of the code is built without RTTI, as LLVM is.
  add_compile_options(-fsanitize=${NEREID_SANITIZE} -fno-sanitize=vptr -fno-omit-frame-pointer -g1)
  add_link_options(-fsanitize=${NEREID_SANITIZE})
endif()
option(NEREID_FUZZ "Instruments everything for libFuzzer and builds test/fuzz/ParserFuzz.cpp" OFF)
if(NEREID_FUZZ)
  add_compile_options(-fsanitize=fuzzer-no-link)
endif()

find_program(NEREID_CCACHE ccache)
if(NEREID_CCACHE AND NOT CMAKE_CXX_COMPILER_LAUNCHER)
  set(CMAKE_CXX_COMPILER_LAUNCHER ${CMAKE_COMMAND} -E env
      CCACHE_SLOPPINESS=pch_defines,time_macros,include_file_mtime,include_file_ctime
      ${NEREID_CCACHE})
endif()
