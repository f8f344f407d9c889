# SPDX-License-Identifier: Apache-2.0
# The inner loops of eager execution are compiled once per instruction set; the program picks one at
# run time. On other processors all builds are the compiler's default.
set(NEREID_EAGER_FLAGS -O3 -fno-math-errno -fno-trapping-math -Wno-unused-function
    -Wno-pass-failed)
foreach(level v2 v3 v4)
  string(TOUPPER ${level} LEVEL)
  set(flags ${NEREID_EAGER_FLAGS})
  if(CMAKE_SYSTEM_PROCESSOR MATCHES "x86_64|AMD64")
    list(APPEND flags -march=x86-64-${level})
  endif()
  if(level STREQUAL "v4")
    list(APPEND flags -mprefer-vector-width=512)
  endif()
  set_source_files_properties(${PROJECT_SOURCE_DIR}/lib/eager/baseline/kernels/Kernels${LEVEL}.cpp
                              PROPERTIES COMPILE_OPTIONS "${flags}")
endforeach()
