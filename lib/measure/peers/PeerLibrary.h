// SPDX-License-Identifier: Apache-2.0
// The C interface of a peer library: bench/peers/<library>.cpp, a shared library of its own that
// `nereid bench` loads when it lies in the folder lib/ beside the program's bin/. Each exports
//   nereid_peer *nereid_peer_open(const nereid_peer_request *request)
//   void nereid_peer_run(nereid_peer *)    one run; what it writes is request->output
//   void nereid_peer_close(nereid_peer *)
// open gives null for an operation, type or shape that the library does not have.
#pragma once

#include <cstddef>
#include <cstdint>

extern "C" {

struct nereid_peer;

struct nereid_peer_tensor {
  void *data; ///< contiguous
  const int64_t *shape;
  int rank;
  int dtype; ///< nereid::DType
};

struct nereid_peer_attribute {
  const char *name;
  double value;
};

/// Everything it points to stays until close.
struct nereid_peer_request {
  const char *operation; ///< PyTorch's name
  const nereid_peer_tensor *inputs;
  size_t inputCount;
  const nereid_peer_attribute *attributes;
  size_t attributeCount;
  nereid_peer_tensor output;
  int threads;
  char *name; ///< to be filled with what the peer is called, at most 63 characters
};

using nereid_peer_open_function = nereid_peer *(*)(const nereid_peer_request *);
using nereid_peer_run_function = void (*)(nereid_peer *);
using nereid_peer_close_function = void (*)(nereid_peer *);
}
