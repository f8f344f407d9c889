/* SPDX-License-Identifier: Apache-2.0 */
#ifndef SCALING_H
#define SCALING_H
/* What the kernel makes of a number; negative when it cannot run. */
float scaling_of(float number);
#endif
