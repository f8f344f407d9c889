// SPDX-License-Identifier: Apache-2.0
// The normal form of programs: passes that change how a program is written and never what it
// computes. After them different spellings of one computation are one program, and recognition
// looks at nodes alone.
#pragma once

#include "lib/generator/program/Program.h"

namespace nereid::generator {

/// Iterators of extent 1 become 0: no batch of one hides a pattern.
void dropUnitIterators(Program &program);

/// X5: an iterator of which a division sees a part, i // n or i % n with n dividing its extent,
/// becomes outer · n + inner, if divisions become fewer by it.
void splitIterators(Program &program);

/// X2 across dimensions: x[e // n, e % n] of rows of n that lie one after another is element e of a
/// view with one dimension less, as a reshape in two steps would say.
void joinDivisions(Program &program);

/// Two loads of one buffer become one by a renaming of iterators, if no node sees both of a renamed
/// pair: the columns of a softmax's result become those of its reductions.
void unifyIterators(Program &program);

/// X6: neighbours o, i that every access steps over as over one, and that nothing else sees, become
/// one iterator of extent(o) · extent(i). Dimensions of a buffer that lie one after another become
/// one of a view.
void mergeIterators(Program &program);

/// Conditions that bounds decide, what they choose, and operations that change nothing; none that
/// would change a bit of a float, such as the sign of a zero.
void foldConstants(Program &program);
/// The same of one value.
const Node *folded(Program &program, const Node *value);

/// All of them, in this order.
void normalise(Program &program);

} // namespace nereid::generator
