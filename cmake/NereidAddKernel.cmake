# SPDX-License-Identifier: Apache-2.0
# nereid_add_kernel(NAME SOURCE file.py[:function] SIGNATURES signature… [GRID expression]
#                   [GRID_ARGUMENTS name…] [CHOOSE constant…] [TARGETS target…])
# A kernel compiled ahead of time when the project is built: target_link_libraries(program NAME)
# brings its code, its header NAME.h and the runtime part. The program `nereid` runs on the building
# machine only.
find_program(NEREID_EXECUTABLE nereid HINTS ${CMAKE_CURRENT_LIST_DIR}/../../../bin)

function(nereid_add_kernel NAME)
  cmake_parse_arguments(ARG "" "SOURCE;GRID" "SIGNATURES;TARGETS;GRID_ARGUMENTS;CHOOSE" ${ARGN})
  if(NOT ARG_SOURCE OR NOT ARG_SIGNATURES OR ARG_UNPARSED_ARGUMENTS)
    message(FATAL_ERROR "nereid_add_kernel(${NAME}) expects SOURCE and SIGNATURES, and knows GRID, "
                        "GRID_ARGUMENTS, CHOOSE and TARGETS besides")
  endif()
  if(NOT NEREID_EXECUTABLE)
    message(FATAL_ERROR "the program 'nereid' was not found: set NEREID_EXECUTABLE")
  endif()
  get_filename_component(source ${ARG_SOURCE} ABSOLUTE)
  string(REGEX REPLACE "\\.py:[^/]*$" ".py" file ${source})
  set(folder ${CMAKE_CURRENT_BINARY_DIR}/${NAME}.kernel)
  set(options --name ${NAME})
  foreach(signature ${ARG_SIGNATURES})
    list(APPEND options --signature ${signature})
  endforeach()
  foreach(target ${ARG_TARGETS})
    list(APPEND options --target ${target})
  endforeach()
  foreach(argument ${ARG_GRID_ARGUMENTS})
    list(APPEND options --grid-argument ${argument})
  endforeach()
  foreach(constant ${ARG_CHOOSE})
    list(APPEND options --choose ${constant})
  endforeach()
  if(ARG_GRID)
    list(APPEND options --grid ${ARG_GRID})
  endif()
  add_custom_command(
    OUTPUT ${folder}/lib${NAME}.a ${folder}/${NAME}.h
    COMMAND ${NEREID_EXECUTABLE} compile ${source} ${options} --emit static -o
            ${folder}/lib${NAME}.a
    DEPENDS ${file} ${NEREID_EXECUTABLE}
    COMMENT "Compiling the kernel ${NAME}" VERBATIM)
  add_custom_target(${NAME}_kernel DEPENDS ${folder}/lib${NAME}.a ${folder}/${NAME}.h)
  add_library(${NAME} INTERFACE)
  add_dependencies(${NAME} ${NAME}_kernel)
  target_include_directories(${NAME} SYSTEM INTERFACE ${folder})
  target_link_libraries(${NAME} INTERFACE ${folder}/lib${NAME}.a Threads::Threads m)
endfunction()
