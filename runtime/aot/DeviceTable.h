// SPDX-License-Identifier: Apache-2.0
// What a kernel compiled ahead of time for devices says about itself, besides Table.h: code that
// its object carries as data, for each specialization and kind of device. Written by lib/aot as
// LLVM IR; every member has 8 bytes. Each vendor has a runtime part of its own, which launches it:
//   nereid_rt_VENDOR_launch_6(table, slots, grid, stream, options)
//   nereid_rt_VENDOR_select_6(table, slots, grid, stream, options, selection)
//   nereid_rt_VENDOR_wait_6(table, stream, options)
#pragma once

#include "runtime/aot/Table.h"

namespace nereid::aot {

struct DeviceVariant {
  const char *entry;    ///< the kernel's name in the code
  const void *portable; ///< what the device's driver compiles; aligned to 16, a zero behind it
  const void *native;   ///< machine code of exactly this kind, aligned to 16; null: none
  int64_t threads;      ///< of a block
  int64_t blocks;       ///< of a program: grids count programs
  int64_t memoryBytes;  ///< of a program's own, asked for with the launch
  int64_t waits;        ///< 1: as KernelInfo::waits
};

struct DeviceTable {
  const Table *table;            ///< its specializations have no variants, and it has no state
  const DeviceVariant *variants; ///< of specialization s for target t: s * targetCount + t
  std::atomic<void *> *loaded;   ///< the only part that is written: what is loaded where
};

} // namespace nereid::aot
