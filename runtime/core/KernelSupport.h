// SPDX-License-Identifier: Apache-2.0
// What compiled kernels may call back: device assertions, device prints, yielding to other
// programs and privatised atomics. These names are the whole nereid_rt_* part of the loader's
// symbol table; generated code declares them by hand. Of the ahead-of-time runtime they are public:
// kernels in other libraries call them.
#pragma once

#include <cstdint>

#ifdef NEREID_AOT_RUNTIME
#define NEREID_RT_API __attribute__((visibility("default")))
#else
#define NEREID_RT_API
#endif

extern "C" {

/// Ends the running program instance and makes the launch come back with E0407; `id` is the
/// program's three ids. Called outside a launch it writes the message to stderr and returns.
NEREID_RT_API void nereid_rt_assert_fail(const char *message, const int32_t *id);

/// One line for one element, on stdout unless the launch has a place for it; see
/// runtime/core/PrintLine.h for the description and the bits.
NEREID_RT_API void nereid_rt_print(const char *description, const int32_t *id, int64_t index,
                                   int64_t bits);

/// Called in every iteration of a loop that may wait for another program (defined in
/// Coroutines.cpp). As long as `observed` stays the same, the program counts as waiting; `place` is
/// the loop's "file:line". Without effect outside a launch.
NEREID_RT_API void nereid_rt_yield(uint64_t observed, const char *place);

/// Where the thread sums up a tile's additions that nobody waits for, laid out as
/// runtime/core/PrivatisedAtomics.h has it; `kind` is its AdditionKind. Null when they are better
/// done directly, as outside a launch.
NEREID_RT_API void *nereid_rt_privatise(int32_t kind, int64_t elements);
/// Adds elements whose lines may not be in it: `count` addresses, and values of its kind.
NEREID_RT_API void nereid_rt_add_private(void *sums, const uint64_t *addresses, const void *values,
                                         int64_t count);
}
