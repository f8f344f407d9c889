// SPDX-License-Identifier: Apache-2.0
#include "lib/targets/nvidia/codegen/AssemblyText.h"

#include "llvm/ADT/StringExtras.h"
#include "llvm/ADT/StringRef.h"

namespace nereid::nvidia {

using llvm::StringRef;

std::string problemOfAssembly(std::string_view text, size_t operands) {
  StringRef rest(text.data(), text.size());
  while (true) {
    const size_t dollar = rest.find('$');
    if (dollar == StringRef::npos) {
      return {};
    }
    rest = rest.drop_front(dollar + 1);
    if (rest.consume_front("$")) {
      continue;
    }
    if (rest.consume_front("{:uid}") || rest.consume_front("{:comment}") ||
        rest.consume_front("{:private}")) {
      continue;
    }
    const bool isBraced = rest.consume_front("{");
    const StringRef number = rest.take_while([](char c) { return llvm::isDigit(c); });
    rest = rest.drop_front(number.size());
    size_t which = 0;
    if (number.empty() || (isBraced && !rest.consume_front("}"))) {
      return "'$' expects the number of an operand behind it, such as $0 or ${0}; a dollar itself "
             "is "
             "'$$'";
    }
    if (number.getAsInteger(10, which) || which >= operands) {
      return "'$" + number.str() + "' expects an operand of that number, but there are " +
             std::to_string(operands) + ", results included";
    }
  }
}

} // namespace nereid::nvidia
