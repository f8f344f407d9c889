// SPDX-License-Identifier: Apache-2.0
// What the generated launchers call. The number in the names is tableVersion: two kernels of
// different versions in one program do not link to one runtime by mistake.
#pragma once

#include "nereid/aot.h"
#include "runtime/aot/Table.h"

extern "C" {

/// slots: one for each parameter of the launcher: an address; an integer, sign- or zero-extended; a
/// float32 or float64 by its bits. grid: three sizes, or null when the specializations have their
/// own.
NEREID_AOT_API nereid_aot_status nereid_rt_launch_6(const nereid::aot::Table *table,
                                                    const uint64_t *slots, const int64_t *grid,
                                                    const nereid_aot_options *options);
NEREID_AOT_API nereid_aot_status nereid_rt_select_6(const nereid::aot::Table *table,
                                                    const uint64_t *slots, const int64_t *grid,
                                                    const nereid_aot_options *options,
                                                    nereid_aot_selection *selection);
}
