// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "nereid/nereid.hpp"

#include <gtest/gtest.h>

/// What a call of the C++ interface throws; fails the test when it throws nothing.
template <class Body> nereid::Error errorOf(const Body &body) {
  try {
    body();
  } catch (const nereid::Error &error) {
    return error;
  }
  ADD_FAILURE() << "expects an error";
  return nereid::Error(NEREID_OK, "");
}
