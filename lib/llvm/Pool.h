// SPDX-License-Identifier: Apache-2.0
// What is expensive to make and serves one thread at a time, as a target machine does: who needs
// one leases it, and the next one gets it again.
#pragma once

#include <functional>
#include <memory>
#include <mutex>
#include <utility>
#include <vector>

namespace nereid::codegen {

template <class T> class Pool {
public:
  using Maker = std::function<std::unique_ptr<T>()>;
  explicit Pool(Maker make) : make(std::move(make)) {}

  /// One of the pool for as long as the lease lives, which must end before the pool does.
  class Lease {
  public:
    explicit Lease(Pool &pool) : pool(pool) {
      {
        std::lock_guard guard(pool.lock);
        if (!pool.idle.empty()) {
          held = std::move(pool.idle.back());
          pool.idle.pop_back();
        }
      }
      if (!held) {
        held = pool.make();
      }
    }
    ~Lease() {
      std::lock_guard guard(pool.lock);
      pool.idle.push_back(std::move(held));
    }
    Lease(const Lease &) = delete;
    Lease &operator=(const Lease &) = delete;
    T *operator->() { return held.get(); }

  private:
    Pool &pool;
    std::unique_ptr<T> held;
  };

  Lease lease() { return Lease(*this); }

private:
  Maker make;
  std::mutex lock;
  std::vector<std::unique_ptr<T>> idle;
};

} // namespace nereid::codegen
