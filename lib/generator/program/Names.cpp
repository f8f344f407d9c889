// SPDX-License-Identifier: Apache-2.0
#include "lib/generator/program/Names.h"

namespace nereid::generator {

std::string freeName(const Program &program, const std::string &stem) {
  std::string name = stem;
  for (int number = 1; program.find(name) || program.space.symbols.find(name); ++number) {
    name = stem + "_" + std::to_string(number);
  }
  return name;
}

NodeParts temporaryOver(Program &program, std::string name, DType dtype,
                        std::span<const IteratorId> iterators) {
  Buffer buffer;
  buffer.name = std::move(name);
  buffer.dtype = dtype;
  buffer.role = BufferRole::Temporary;
  NodeParts ref{NodeKind::Ref, dtype};
  for (IteratorId iterator : iterators) {
    buffer.sizes.push_back(program.space.iterators[iterator].extent);
    ref.indices.push_back(Affine::iterator(iterator));
  }
  buffer.strides = contiguousStrides(buffer.sizes);
  ref.buffer = program.add(std::move(buffer));
  return ref;
}

} // namespace nereid::generator
