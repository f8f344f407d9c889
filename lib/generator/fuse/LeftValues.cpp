// SPDX-License-Identifier: Apache-2.0
// Temporaries for values, see LeftValues.h.
#include "lib/generator/fuse/LeftValues.h"

#include "lib/generator/fuse/JoinedIterators.h"
#include "lib/generator/fuse/OpenReads.h"
#include "lib/generator/program/Names.h"

namespace nereid::generator {

LeftValues leaveValues(Program &program, SavedValues &known, const Stage &stage,
                       const std::vector<const Node *> &values, bool isOpen, BufferId owner,
                       const std::set<BufferId> &apart) {
  LeftValues result;
  for (const Node *value : values) {
    const JoinedValue joined = joinIterators(program, value, conditionsAround(stage.stores, value));
    const Node *saved = known.find(joined.value, owner, apart);
    if (saved) {
      result.found.push_back(saved->buffer);
    } else {
      const std::set<IteratorId> &free = joined.value->free;
      const std::vector<IteratorId> over(free.begin(), free.end());
      NodeParts ref = temporaryOver(program, freeName(program, "saved"), value->dtype, over);
      const Node *left = isOpen ? withoutPromises(program, joined.value) : joined.value;
      result.stores.push_back({ref.buffer, ref.indices, left, "", nullptr});
      known.add(joined.value, ref.buffer, owner);
      saved = program.nodes.make(std::move(ref));
    }
    result.reads[value] = program.nodes.substitute(saved, joined.at, program.space);
    program.nodes.passWord(value, result.reads[value]);
  }
  return result;
}

} // namespace nereid::generator
