// SPDX-License-Identifier: Apache-2.0
#include "lib/importer/onnx/ElementType.h"

#include <array>

namespace nereid::importer {
namespace {

struct Row {
  const char *name;
  double bytes;
  std::optional<DType> dtype;
};

/// By code.
const std::array<Row, 24> rows = {{{"unknown", 0, {}},
                                   {"float32", 4, DType::F32},
                                   {"uint8", 1, DType::U8},
                                   {"int8", 1, DType::I8},
                                   {"uint16", 2, DType::U16},
                                   {"int16", 2, DType::I16},
                                   {"int32", 4, DType::I32},
                                   {"int64", 8, DType::I64},
                                   {"string", 0, {}},
                                   {"bool", 1, DType::Bool},
                                   {"float16", 2, DType::F16},
                                   {"float64", 8, DType::F64},
                                   {"uint32", 4, DType::U32},
                                   {"uint64", 8, DType::U64},
                                   {"complex64", 8, {}},
                                   {"complex128", 16, {}},
                                   {"bfloat16", 2, DType::BF16},
                                   {"float8_e4m3fn", 1, DType::F8E4M3FN},
                                   {"float8_e4m3fnuz", 1, DType::F8E4M3FNUZ},
                                   {"float8_e5m2", 1, DType::F8E5M2},
                                   {"float8_e5m2fnuz", 1, DType::F8E5M2FNUZ},
                                   {"uint4", 0.5, {}},
                                   {"int4", 0.5, {}},
                                   {"float4_e2m1", 0.5, {}}}};

const Row &rowOf(int code) {
  return rows[code >= 0 && code < static_cast<int>(rows.size()) ? static_cast<size_t>(code) : 0];
}

} // namespace

ElementType ElementType::of(DType dtype) {
  for (size_t code = 1; code < rows.size(); ++code) {
    if (rows[code].dtype == dtype) {
      return ElementType(static_cast<int>(code));
    }
  }
  return {};
}

std::optional<DType> ElementType::dtype() const { return rowOf(code).dtype; }
double ElementType::bytes() const { return rowOf(code).bytes; }
std::string ElementType::name() const {
  const Row &row = rowOf(code);
  return code != 0 && &row == rows.data() ? "type " + std::to_string(code) : row.name;
}

} // namespace nereid::importer
