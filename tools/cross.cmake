# SPDX-License-Identifier: Apache-2.0
# nereid-runner for other processors, in build/cross/ARCHITECTURE, where their cross compilers are
# installed; NEREID_CROSS lists those. Tests run them under qemu.
include(ExternalProject)
set(NEREID_CROSS "")
foreach(architecture aarch64 riscv64)
  find_program(NEREID_CXX_${architecture} ${architecture}-linux-gnu-g++)
  find_program(NEREID_QEMU_${architecture} qemu-${architecture})
  if(NOT NEREID_CXX_${architecture} OR NOT NEREID_QEMU_${architecture} OR NEREID_SANITIZE OR NEREID_FUZZ)
    message(STATUS "Nothing is run for ${architecture}: its compiler or qemu is missing, or this is "
                   "a sanitizer's build")
    continue()
  endif()
  list(APPEND NEREID_CROSS ${architecture})
  ExternalProject_Add(runner_${architecture}
    SOURCE_DIR ${PROJECT_SOURCE_DIR}/tools/runner
    BINARY_DIR ${PROJECT_BINARY_DIR}/cross/${architecture}
    CMAKE_ARGS -DCMAKE_TOOLCHAIN_FILE=${PROJECT_SOURCE_DIR}/cmake/toolchains/${architecture}.cmake
    CMAKE_CACHE_ARGS -DCMAKE_CXX_COMPILER_LAUNCHER:STRING=${NEREID_CCACHE}
    INSTALL_COMMAND ""
    BUILD_ALWAYS ON
    STEP_TARGETS build
    EXCLUDE_FROM_ALL OFF)
endforeach()
