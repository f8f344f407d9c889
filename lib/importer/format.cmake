# SPDX-License-Identifier: Apache-2.0
# Reader of the ONNX format, made by protoc from our own description of it, and protobuf's small
# runtime as an archive, as all others are linked.
find_package(Protobuf REQUIRED)
find_library(NEREID_PROTOBUF_ARCHIVE libprotobuf-lite.a REQUIRED)
set(format ${PROJECT_BINARY_DIR}/format)
file(MAKE_DIRECTORY ${format})
add_custom_command(
  OUTPUT ${format}/format.pb.cc ${format}/format.pb.h
  COMMAND ${Protobuf_PROTOC_EXECUTABLE} --cpp_out=${format}
          --proto_path=${PROJECT_SOURCE_DIR}/lib/importer/onnx
          ${PROJECT_SOURCE_DIR}/lib/importer/onnx/format.proto
  DEPENDS ${PROJECT_SOURCE_DIR}/lib/importer/onnx/format.proto VERBATIM)
add_library(nereid_onnx_format STATIC ${format}/format.pb.cc ${format}/format.pb.h)
target_include_directories(nereid_onnx_format SYSTEM PUBLIC ${format} ${Protobuf_INCLUDE_DIRS})
target_compile_options(nereid_onnx_format PRIVATE -w)
target_link_libraries(nereid_onnx_format PUBLIC ${NEREID_PROTOBUF_ARCHIVE} Threads::Threads)
