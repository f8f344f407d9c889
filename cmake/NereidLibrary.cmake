# SPDX-License-Identifier: Apache-2.0
# nereid_library(NAME FOLDER [MLIR] [EIGEN] [EXCLUDE sub…] LINK deps…)
# Makes one object library from all *.cpp below FOLDER (newly added files are found by themselves).
# MLIR: sees LLVM/MLIR headers through one shared precompiled header. EXCLUDE: subfolders that are
# libraries of their own. nereid_objects(OUT NAME) gives the transitive closure to link a program.
function(nereid_library NAME FOLDER)
  cmake_parse_arguments(ARG "MLIR;EIGEN" "" "LINK;EXCLUDE" ${ARGN})
  file(GLOB_RECURSE sources CONFIGURE_DEPENDS ${PROJECT_SOURCE_DIR}/${FOLDER}/*.cpp)
  foreach(sub ${ARG_EXCLUDE})
    list(FILTER sources EXCLUDE REGEX "/${FOLDER}/${sub}/")
  endforeach()
  if(NOT sources)
    file(WRITE ${PROJECT_BINARY_DIR}/empty/${NAME}.cpp "")
    set(sources ${PROJECT_BINARY_DIR}/empty/${NAME}.cpp)
  endif()
  add_library(${NAME} STATIC ${sources})
  set_target_properties(${NAME} PROPERTIES OUTPUT_NAME nereid_${NAME})
  target_include_directories(${NAME} PUBLIC ${PROJECT_SOURCE_DIR} ${PROJECT_SOURCE_DIR}/include)
  target_link_libraries(${NAME} PUBLIC ${ARG_LINK})
  if(ARG_EIGEN)
    target_link_libraries(${NAME} PRIVATE Eigen3::Eigen)
  endif()
  if(ARG_MLIR)
    target_include_directories(${NAME} PUBLIC ${PROJECT_BINARY_DIR})
    target_link_libraries(${NAME} PUBLIC nereid_mlir_link)
    target_link_libraries(${NAME} PRIVATE nereid_mlir)
    add_dependencies(${NAME} NereidTileIncGen)
    target_precompile_headers(${NAME} REUSE_FROM nereid_pch)
  endif()
endfunction()

# Link side of MLIR, separate from its include paths so that non-MLIR code cannot see MLIR headers.
add_library(nereid_mlir_link INTERFACE)
target_link_libraries(nereid_mlir_link INTERFACE ${NEREID_MLIR_LIBRARIES})

# One precompiled header serves every MLIR library: it must be compiled with their exact flags.
file(WRITE ${PROJECT_BINARY_DIR}/empty/pch.cpp "")
add_library(nereid_pch STATIC ${PROJECT_BINARY_DIR}/empty/pch.cpp)
target_link_libraries(nereid_pch PRIVATE nereid_mlir)
target_include_directories(nereid_pch PRIVATE ${PROJECT_SOURCE_DIR} ${PROJECT_SOURCE_DIR}/include
                           ${PROJECT_BINARY_DIR})
target_precompile_headers(nereid_pch PRIVATE ${PROJECT_SOURCE_DIR}/cmake/MlirPch.h)

# Version facts reach exactly one file, so that a new commit recompiles nothing else.
execute_process(COMMAND git -C ${PROJECT_SOURCE_DIR} rev-parse --short HEAD
                OUTPUT_VARIABLE NEREID_REVISION OUTPUT_STRIP_TRAILING_WHITESPACE ERROR_QUIET)
if(NOT NEREID_REVISION)
  set(NEREID_REVISION unknown)
endif()
set_source_files_properties(${PROJECT_SOURCE_DIR}/lib/support/Version.cpp PROPERTIES
  COMPILE_DEFINITIONS
  "NEREID_VERSION=\"${PROJECT_VERSION}\";NEREID_REVISION=\"${NEREID_REVISION}\";NEREID_LLVM_VERSION=\"${LLVM_PACKAGE_VERSION}\"")
