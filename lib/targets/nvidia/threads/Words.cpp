// SPDX-License-Identifier: Apache-2.0
#include "lib/targets/nvidia/threads/Words.h"

using namespace mlir;

namespace nereid::nvidia {

char registerLetter(unsigned bits) { return bits == 64 ? 'l' : bits == 32 ? 'r' : 'h'; }

SmallVector<Value> packWords(ThreadCode &code, ArrayRef<Value> elements, unsigned wordBits) {
  OpBuilder &b = code.builder;
  Type word = b.getIntegerType(std::max(16U, wordBits));
  SmallVector<Value> words;
  const size_t each = wordBits / memoryBits(elements.front().getType());
  for (size_t begin = 0; begin < elements.size(); begin += each) {
    Value sum;
    for (size_t i = 0; i < each; ++i) {
      Value bits = code.toBits(elements[begin + i]);
      const unsigned width = bits.getType().getIntOrFloatBitWidth();
      if (bits.getType() != word) {
        bits = b.create<arith::ExtUIOp>(code.loc, word, bits);
      }
      if (i > 0) {
        bits = b.create<arith::ShLIOp>(
            code.loc, bits,
            code.constant(static_cast<int64_t>(i * width), word.getIntOrFloatBitWidth()));
      }
      sum = sum ? b.create<arith::OrIOp>(code.loc, sum, bits).getResult() : bits;
    }
    words.push_back(sum);
  }
  return words;
}

SmallVector<Value> unpackWord(ThreadCode &code, Value word, size_t count, Type type) {
  OpBuilder &b = code.builder;
  const unsigned width = memoryBits(type), have = word.getType().getIntOrFloatBitWidth();
  SmallVector<Value> elements;
  for (size_t i = 0; i < count; ++i) {
    Value bits = word;
    if (i > 0) {
      bits = b.create<arith::ShRUIOp>(code.loc, bits,
                                      code.constant(static_cast<int64_t>(i * width), have));
    }
    if (have != width) {
      bits = b.create<arith::TruncIOp>(code.loc, b.getIntegerType(width), bits);
    }
    elements.push_back(code.fromBits(bits, type));
  }
  return elements;
}

} // namespace nereid::nvidia
