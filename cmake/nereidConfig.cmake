# SPDX-License-Identifier: Apache-2.0
# find_package(nereid) gives the imported targets nereid::nereid (compile and launch) and nereid::aot,
# nereid::aot_shared (the runtime part of kernels compiled ahead of time), nereid::compiler (the
# program), and the function nereid_add_kernel.
include(CMakeFindDependencyMacro)
set(THREADS_PREFER_PTHREAD_FLAG ON)
find_dependency(Threads)
include(${CMAKE_CURRENT_LIST_DIR}/nereidTargets.cmake)
include(${CMAKE_CURRENT_LIST_DIR}/NereidAddKernel.cmake)
