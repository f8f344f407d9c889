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

} // namespace nereid::generator
