# SPDX-License-Identifier: Apache-2.0
# nereid_library(NAME FOLDER [MLIR] [LLVM] [EIGEN] [EXCLUDE sub…] LINK deps…)
# Makes the library nereid.NAME from all *.cpp below FOLDER (newly added files are found by
# themselves). MLIR: sees LLVM/MLIR headers through one shared precompiled header. LLVM: sees LLVM's
# headers alone, and links the LLVM libraries that it names. EXCLUDE: subfolders that are libraries
# of their own. The prefix keeps them apart from the targets of a project that includes this one;
# LINK and nereid_link go without it.
function(nereid_link TARGET SCOPE)
  foreach(library ${ARGN})
    if(TARGET nereid.${library})
      set(library nereid.${library})
    endif()
    target_link_libraries(${TARGET} ${SCOPE} ${library})
  endforeach()
endfunction()

function(nereid_library NAME FOLDER)
  cmake_parse_arguments(ARG "MLIR;LLVM;EIGEN" "" "LINK;EXCLUDE" ${ARGN})
  file(GLOB_RECURSE sources CONFIGURE_DEPENDS ${PROJECT_SOURCE_DIR}/${FOLDER}/*.cpp)
  foreach(sub ${ARG_EXCLUDE})
    list(FILTER sources EXCLUDE REGEX "/${FOLDER}/${sub}/")
  endforeach()
  if(NOT sources)
    file(WRITE ${PROJECT_BINARY_DIR}/empty/${NAME}.cpp "")
    set(sources ${PROJECT_BINARY_DIR}/empty/${NAME}.cpp)
  endif()
  set(target nereid.${NAME})
  add_library(${target} STATIC ${sources})
  set_target_properties(${target} PROPERTIES OUTPUT_NAME nereid_${NAME})
  target_include_directories(${target} PUBLIC ${PROJECT_SOURCE_DIR} ${PROJECT_SOURCE_DIR}/include)
  nereid_link(${target} PUBLIC ${ARG_LINK})
  if(ARG_EIGEN)
    target_link_libraries(${target} PRIVATE Eigen3::Eigen)
  endif()
  if(ARG_LLVM)
    target_link_libraries(${target} PRIVATE nereid_llvm)
  endif()
  if(ARG_MLIR)
    target_include_directories(${target} PUBLIC ${PROJECT_BINARY_DIR})
    target_link_libraries(${target} PUBLIC nereid_mlir_link)
    target_link_libraries(${target} PRIVATE nereid_mlir)
    add_dependencies(${target} NereidTileIncGen)
    target_precompile_headers(${target} REUSE_FROM nereid_pch)
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
string(TOUPPER "${CMAKE_BUILD_TYPE}" NEREID_BUILD_TYPE)
get_directory_property(NEREID_FLAGS COMPILE_OPTIONS)
list(JOIN NEREID_FLAGS " " NEREID_FLAGS)
string(STRIP "${CMAKE_CXX_FLAGS} ${CMAKE_CXX_FLAGS_${NEREID_BUILD_TYPE}} ${NEREID_FLAGS}" NEREID_FLAGS)
set_source_files_properties(${PROJECT_SOURCE_DIR}/lib/support/Version.cpp PROPERTIES
  COMPILE_DEFINITIONS
  "NEREID_FLAGS=\"${NEREID_FLAGS}\";NEREID_VERSION=\"${PROJECT_VERSION}\";NEREID_REVISION=\"${NEREID_REVISION}\";NEREID_LLVM_VERSION=\"${LLVM_PACKAGE_VERSION}\"")
