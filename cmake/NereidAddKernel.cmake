# SPDX-License-Identifier: Apache-2.0
# nereid_add_kernel(NAME SOURCE file.py[:function] SIGNATURES signature… [GRID expression]
#                   [GRID_ARGUMENTS name…] [CHOOSE constant…] [TARGETS target…] [RUNTIME file]
#                   [IMPORT_PATHS folder…])
# The static library NAME with a kernel compiled ahead of time, for the processor that the project
# is built for: target_link_libraries(program NAME) brings its code, its header NAME.h and the
# runtime part. It is installed and exported as any library, with its headers as FILE_SET HEADERS.
# RUNTIME: the libnereid_aot.a of another processor than the building machine's, a file or a target.
# NEREID_EXECUTABLE: the compiler, which runs on the building machine, if not nereid::compiler.
cmake_policy(PUSH)
cmake_policy(VERSION 3.16...3.25) # CMP0116: what paths in dependency files are relative to

# nereid_architecture_(OUT processor): the compiler's name for it.
function(nereid_architecture_ OUT PROCESSOR)
  string(TOLOWER "${PROCESSOR}" processor)
  if(processor MATCHES "^(x86_64|x86-64|amd64)$")
    set(${OUT} x86-64 PARENT_SCOPE)
  elseif(processor MATCHES "^(aarch64|arm64)$")
    set(${OUT} aarch64 PARENT_SCOPE)
  elseif(processor STREQUAL "riscv64")
    set(${OUT} riscv64 PARENT_SCOPE)
  else()
    set(${OUT} "" PARENT_SCOPE)
  endif()
endfunction()

function(nereid_add_kernel NAME)
  if(CMAKE_VERSION VERSION_LESS 3.23)
    message(FATAL_ERROR "nereid_add_kernel needs the file sets of CMake 3.23, and this is "
                        "${CMAKE_VERSION}: call 'nereid compile --emit static' yourself")
  endif()
  cmake_parse_arguments(ARG "" "SOURCE;GRID;RUNTIME"
                        "SIGNATURES;TARGETS;GRID_ARGUMENTS;CHOOSE;IMPORT_PATHS" ${ARGN})
  if(NOT ARG_SOURCE OR NOT ARG_SIGNATURES OR ARG_UNPARSED_ARGUMENTS)
    message(FATAL_ERROR "nereid_add_kernel(${NAME}) expects SOURCE and SIGNATURES, and knows GRID, "
                        "GRID_ARGUMENTS, CHOOSE, TARGETS, RUNTIME and IMPORT_PATHS besides")
  endif()
  if(NEREID_EXECUTABLE)
    set(compiler ${NEREID_EXECUTABLE})
  else()
    set(compiler $<TARGET_FILE:nereid::compiler>)
  endif()
  nereid_architecture_(architecture "${CMAKE_SYSTEM_PROCESSOR}")
  nereid_architecture_(building "${CMAKE_HOST_SYSTEM_PROCESSOR}")
  if(NOT architecture AND NOT ARG_TARGETS)
    message(FATAL_ERROR "nereid_add_kernel(${NAME}) knows no code for CMAKE_SYSTEM_PROCESSOR "
                        "'${CMAKE_SYSTEM_PROCESSOR}': it expects x86_64, aarch64 or riscv64, or TARGETS")
  endif()
  if(NOT architecture STREQUAL building AND NOT ARG_RUNTIME)
    set(document docs/ahead-of-time.md)
    foreach(place .. ../../../share/nereid ../../../../share/nereid)
      get_filename_component(path ${CMAKE_CURRENT_FUNCTION_LIST_DIR}/${place}/docs/ahead-of-time.md
                             ABSOLUTE)
      if(EXISTS ${path})
        set(document ${path})
      endif()
    endforeach()
    message(FATAL_ERROR "nereid_add_kernel(${NAME}) is built for ${CMAKE_SYSTEM_PROCESSOR} on "
                        "${CMAKE_HOST_SYSTEM_PROCESSOR} and expects RUNTIME, the libnereid_aot.a of "
                        "${CMAKE_SYSTEM_PROCESSOR}; how to build it stands in\n  ${document}")
  endif()

  get_filename_component(source ${ARG_SOURCE} ABSOLUTE)
  string(REGEX REPLACE "\\.py:[^/]*$" ".py" file ${source})
  set(options --name ${NAME})
  if(architecture)
    list(APPEND options --architecture ${architecture})
  endif()
  foreach(target ${ARG_TARGETS})
    list(APPEND options --target ${target})
  endforeach()
  foreach(signature ${ARG_SIGNATURES})
    list(APPEND options --signature ${signature})
  endforeach()
  foreach(argument ${ARG_GRID_ARGUMENTS})
    list(APPEND options --grid-argument ${argument})
  endforeach()
  foreach(constant ${ARG_CHOOSE})
    list(APPEND options --choose ${constant})
  endforeach()
  foreach(folder ${ARG_IMPORT_PATHS})
    get_filename_component(folder ${folder} ABSOLUTE)
    list(APPEND options --import-path ${folder})
  endforeach()
  if(ARG_GRID)
    list(APPEND options --grid ${ARG_GRID})
  endif()
  set(runtime)
  if(TARGET "${ARG_RUNTIME}")
    set(runtime $<TARGET_FILE:${ARG_RUNTIME}>)
  elseif(ARG_RUNTIME)
    get_filename_component(runtime ${ARG_RUNTIME} ABSOLUTE)
  endif()
  if(runtime)
    list(APPEND options --runtime ${runtime})
  endif()

  # CMake makes libraries of objects only, so the kernel's is taken out of the finished archive, and
  # the archive, which has the runtime part as well, takes the library's place.
  set(folder ${CMAKE_CURRENT_BINARY_DIR}/${NAME}.kernel)
  set(archive ${folder}/lib${NAME}.a)
  set(object ${folder}/${NAME}.o)
  set(headers ${folder}/${NAME}.h ${folder}/nereid/aot.h)
  file(MAKE_DIRECTORY ${folder})
  add_custom_command(
    OUTPUT ${archive} ${object} ${headers} # the dependency file speaks of the first
    BYPRODUCTS ${folder}/${NAME}-config.cmake
    COMMAND ${compiler} compile ${source} ${options} --emit static -o ${archive} --depfile
            ${archive}.d
    COMMAND ${CMAKE_AR} x ${archive} ${NAME}.o
    WORKING_DIRECTORY ${folder}
    DEPENDS ${file} ${compiler} ${runtime}
    DEPFILE ${archive}.d
    COMMENT "Compiling the kernel ${NAME}" VERBATIM)
  add_library(${NAME} STATIC ${object} ${headers})
  set_source_files_properties(${object} PROPERTIES EXTERNAL_OBJECT ON GENERATED ON)
  get_property(languages GLOBAL PROPERTY ENABLED_LANGUAGES)
  if("C" IN_LIST languages)
    set(language C)
  else()
    set(language CXX)
  endif()
  set_target_properties(${NAME} PROPERTIES LINKER_LANGUAGE ${language} OUTPUT_NAME ${NAME}
                        PREFIX lib SUFFIX .a)
  add_custom_command(TARGET ${NAME} POST_BUILD
                     COMMAND ${CMAKE_COMMAND} -E copy ${archive} $<TARGET_FILE:${NAME}> VERBATIM)
  target_sources(${NAME} INTERFACE FILE_SET HEADERS BASE_DIRS ${folder} FILES ${headers})
  target_include_directories(${NAME} SYSTEM INTERFACE $<BUILD_INTERFACE:${folder}>)
  target_link_libraries(${NAME} INTERFACE pthread m ${CMAKE_DL_LIBS})
endfunction()
cmake_policy(POP)
