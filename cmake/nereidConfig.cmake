# SPDX-License-Identifier: Apache-2.0
# find_package(nereid) gives the imported target nereid::nereid.
include(${CMAKE_CURRENT_LIST_DIR}/nereidTargets.cmake)
