// SPDX-License-Identifier: Apache-2.0
// What the compiler's libraries do when memory ends: by themselves they abort the process. This
// header knows no MLIR.
#pragma once

namespace nereid::pipeline {

/// `report` is called by any thread, in the middle of anything, and must not return.
void onOutOfMemory(void (*report)());

/// While one lives, `new` on this thread reports as well where it would throw: the compiler's
/// containers are built without exceptions, and one that is thrown while they grow leaves them in a
/// state on which their destructors fault. Without a report, `new` throws as ever.
class ReportingNew {
public:
  ReportingNew();
  ~ReportingNew();
  ReportingNew(const ReportingNew &) = delete;
  ReportingNew &operator=(const ReportingNew &) = delete;
};

} // namespace nereid::pipeline
