// SPDX-License-Identifier: Apache-2.0
// Half of the programs are general, a dozen statements of any kind; the others are about one or two
// statements, with a few general ones around them.
#include "test/fuzz/programs/statements/Statements.h"

namespace nereid::fuzz {
namespace {

struct Statement {
  void (*write)(Writer &);
  int64_t general, special;
};

const Statement statements[] = {
#define FUZZ_STATEMENT(NAME, GENERAL, SPECIAL) {NAME, GENERAL, SPECIAL},
#include "test/fuzz/programs/statements/Statements.def"
#undef FUZZ_STATEMENT
};

void writeOne(Writer &w, int64_t Statement::*weight) {
  int64_t total = 0;
  for (const Statement &one : statements) {
    total += one.*weight;
  }
  int64_t at = w.pick(total);
  for (const Statement &one : statements) {
    at -= one.*weight;
    if (at < 0) {
      return one.write(w);
    }
  }
}

} // namespace

Program writeProgram(uint64_t seed) {
  Writer w(seed);
  if (w.chance(35)) {
    loading(w);
    for (int64_t i = w.between(3, 12); i > 0; --i) {
      writeOne(w, &Statement::general);
    }
    return w.finish();
  }
  if (w.chance(30)) {
    loading(w);
  }
  writeOne(w, &Statement::special);
  if (w.chance(30)) { // nothing else, as in most kernels
    return w.finish();
  }
  for (int64_t i = w.pick(4); i > 0; --i) {
    writeOne(w, &Statement::general);
  }
  if (w.chance(20)) {
    writeOne(w, &Statement::special);
  }
  return w.finish();
}

} // namespace nereid::fuzz
