// SPDX-License-Identifier: Apache-2.0
// What the launchers of libraries for NVIDIA GPUs call: runtime/aot/DeviceTable.h's functions of
// this vendor. The number in the names is tableVersion.
#pragma once

#include "nereid/aot.h"
#include "runtime/aot/DeviceTable.h"

extern "C" {

/// Puts the kernel into the stream, a CUstream, of that stream's context; null: the default stream
/// of the context that is current on this thread. slots and grid as for runtime/aot/Entry.h.
NEREID_AOT_API nereid_aot_status nereid_rt_nvidia_launch_6(const nereid::aot::DeviceTable *table,
                                                           const uint64_t *slots,
                                                           const int64_t *grid, void *stream,
                                                           const nereid_aot_options *options);
NEREID_AOT_API nereid_aot_status nereid_rt_nvidia_select_6(const nereid::aot::DeviceTable *table,
                                                           const uint64_t *slots,
                                                           const int64_t *grid, void *stream,
                                                           const nereid_aot_options *options,
                                                           nereid_aot_selection *selection);
/// Waits until the stream has done all that it was given; an assertion of this kernel that failed
/// since the last call is told.
NEREID_AOT_API nereid_aot_status nereid_rt_nvidia_wait_6(const nereid::aot::DeviceTable *table,
                                                         void *stream,
                                                         const nereid_aot_options *options);
}
