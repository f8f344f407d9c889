// SPDX-License-Identifier: Apache-2.0
#include "lib/targets/cpu/Places.h"

using namespace mlir;

namespace nereid::cpu {

Place placeOf(Location loc) {
  if (auto file = dyn_cast<FileLineColLoc>(loc)) {
    return {file.getFilename().str(), static_cast<int>(file.getLine()),
            static_cast<int>(file.getColumn())};
  }
  if (auto call = dyn_cast<CallSiteLoc>(loc)) {
    return placeOf(call.getCallee());
  }
  if (auto name = dyn_cast<NameLoc>(loc)) {
    return placeOf(name.getChildLoc());
  }
  if (auto fused = dyn_cast<FusedLoc>(loc)) {
    for (Location inner : fused.getLocations()) {
      Place place = placeOf(inner);
      if (place.line != 0) {
        return place;
      }
    }
  }
  return {};
}

void setPlace(Diagnostic &diagnostic, Location loc) {
  Place place = placeOf(loc);
  diagnostic.file = place.file;
  diagnostic.range = {place.line, place.column, place.column + 1};
}

Diagnostic unsupportedError(Operation *op, const std::string &why) {
  Diagnostic error = makeError("E0301", "the cpu target cannot compile '" +
                                            op->getName().getStringRef().str() + "': " + why);
  setPlace(error, op->getLoc());
  return error;
}

} // namespace nereid::cpu
