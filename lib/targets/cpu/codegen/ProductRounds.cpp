// SPDX-License-Identifier: Apache-2.0
// Each operation gets the number of its round: a product's factors come from the round before, what
// an upper half goes into is of its own round. Rounds in a row whose operations of each kind read
// the same kinds of the same and of the previous round are alike.
//
// Example: for `a' = hi(b) ^ lo(a) ^ key, b' = hi(a) - lo(b)` the kinds are the four products, both
// exclusive ors and the difference; a and b are carried.
#include "lib/targets/cpu/codegen/ProductRounds.h"

#include "mlir/Dialect/Arith/IR/Arith.h"

#include "llvm/ADT/Hashing.h"
#include "llvm/ADT/MapVector.h"

#include <algorithm>
#include <climits>
#include <tuple>

using namespace mlir;

namespace nereid::cpu {
namespace {

constexpr unsigned fewestRounds = 3;

class RoundFinder {
public:
  RoundFinder(const ProductChain &chain, const DenseSet<Operation *> &dead)
      : chain(chain), dead(dead) {
    for (unsigned i = 0; i < chain.size(); ++i) {
      positions[chain[i]] = i;
    }
  }

  std::optional<ProductRounds> find() {
    describe();
    if (!(number(/*roundsToLow=*/1) || number(/*roundsToLow=*/0)) || !classify() ||
        !findOrigins() || !findRange() || !readKeysAndCarried() || !staysInside()) {
      return std::nullopt;
    }
    return std::move(result);
  }

private:
  struct Member {
    bool isProduct = false, isLow = false;
    SmallVector<Value, 2> sources;
    size_t own = 0; ///< hash of what it does
    int kind = -1;
    int round = notReached;
  };
  static constexpr int notReached = INT_MIN;

  int memberOf(Value value) const {
    Operation *op = value.getDefiningOp();
    auto found = op ? positions.find(op) : positions.end();
    return found == positions.end() ? -1 : static_cast<int>(found->second);
  }

  void describe() {
    members.resize(chain.size());
    for (unsigned i = 0; i < chain.size(); ++i) {
      Operation *op = chain[i];
      Member &member = members[i];
      HighProduct product;
      const bool isHigh = matchHighProduct(op, product);
      member.isLow = !isHigh && matchLowProduct(op, product);
      member.isProduct = isHigh || member.isLow;
      member.own = llvm::hash_combine(op->getName().getAsOpaquePointer(), member.isLow, isHigh);
      if (member.isProduct) {
        member.sources.push_back(product.a);
        member.own = llvm::hash_combine(member.own, product.constant, product.b != nullptr);
        if (product.b) {
          member.sources.push_back(product.b);
        }
      } else {
        member.sources.assign(op->operand_begin(), op->operand_end());
      }
    }
  }

  /// Two steps back up to the products tell the rounds' operations apart.
  size_t kindOf(unsigned position, int steps) const {
    const Member &member = members[position];
    if (member.isProduct || steps == 0) {
      return member.own;
    }
    size_t hash = member.own;
    for (Value source : member.sources) {
      int from = memberOf(source);
      hash = llvm::hash_combine(hash, from >= 0 ? kindOf(from, steps - 1) : isSplat(source));
    }
    return hash;
  }

  /// Numbers what the first upper half is connected with; false where that leads to two numbers.
  /// Lower halves are used at once, or one round later as they are ready before the upper ones.
  bool number(int roundsToLow) {
    for (Member &member : members) {
      member.round = notReached;
    }
    SmallVector<SmallVector<std::pair<unsigned, int>>> edges(chain.size());
    SmallVector<unsigned> work;
    for (unsigned i = 0; i < chain.size(); ++i) {
      const Member &member = members[i];
      if (work.empty() && member.isProduct && !member.isLow) {
        members[i].round = 0;
        work.push_back(i);
      }
      for (Value source : member.sources) {
        int from = memberOf(source);
        if (from >= 0) {
          const int difference = member.isProduct ? 1 : members[from].isLow ? roundsToLow : 0;
          edges[i].push_back({from, -difference});
          edges[from].push_back({i, difference});
        }
      }
    }
    while (!work.empty()) {
      const unsigned position = work.pop_back_val();
      for (auto [to, difference] : edges[position]) {
        const int round = members[position].round + difference;
        if (members[to].round == notReached) {
          members[to].round = round;
          work.push_back(to);
        } else if (members[to].round != round) {
          return false;
        }
      }
    }
    return true;
  }

  /// Sorts by kind and round; kinds that occur less often are of no round.
  bool classify() {
    llvm::MapVector<size_t, SmallVector<unsigned>> byHash;
    for (unsigned i = 0; i < chain.size(); ++i) {
      if (members[i].round != notReached) {
        byHash[kindOf(i, 2)].push_back(i);
      }
    }
    for (auto &[hash, list] : byHash) {
      if (list.size() < fewestRounds) {
        continue;
      }
      const auto kind = static_cast<int>(kinds.size());
      auto &byRound = kinds.emplace_back();
      for (unsigned position : list) {
        members[position].kind = kind;
        if (!byRound.try_emplace(members[position].round, position).second) {
          return false;
        }
        low = std::min(low, members[position].round);
        high = std::max(high, members[position].round);
      }
    }
    return !kinds.empty();
  }

  /// Where one operand of a kind's operations comes from.
  struct Origin {
    int kind = -1;  ///< none for what no kind computes
    int before = 0; ///< rounds
    bool operator==(const Origin &other) const {
      return kind == other.kind && before == other.before;
    }
  };

  Origin originOf(const Member &member, unsigned operand) const {
    int from = memberOf(member.sources[operand]);
    if (from < 0 || members[from].kind < 0) {
      return {};
    }
    return {members[from].kind, member.round - members[from].round};
  }

  /// What most operations of a kind read; the first rounds of a chain often read constants instead.
  bool findOrigins() {
    for (const DenseMap<int, unsigned> &kind : kinds) {
      SmallVector<Origin, 2> &mostFrequent = origins.emplace_back();
      for (unsigned i = 0; i < members[kind.begin()->second].sources.size(); ++i) {
        SmallVector<Origin> all;
        for (auto [round, position] : kind) {
          all.push_back(originOf(members[position], i));
        }
        auto weight = [&](const Origin &origin) {
          const auto times = llvm::count(all, origin);
          return std::make_tuple(times > 1 && origin.kind >= 0, times, origin.kind);
        };
        mostFrequent.push_back(
            *std::max_element(all.begin(), all.end(), [&](const Origin &a, const Origin &b) {
              return weight(a) < weight(b);
            }));
        if (mostFrequent.back().before < 0 || mostFrequent.back().before > 1) {
          return false;
        }
      }
    }
    return true;
  }

  /// -1 where the round lacks it.
  int at(size_t kind, int round) const {
    auto found = kinds[kind].find(round);
    return found == kinds[kind].end() ? -1 : static_cast<int>(found->second);
  }

  /// Whether each operation of a round reads what it should: what is carried over, or all else.
  bool isRegular(int round, bool carried) const {
    for (size_t kind = 0; kind < kinds.size(); ++kind) {
      const int position = at(kind, round);
      for (unsigned i = 0; position >= 0 && i < origins[kind].size(); ++i) {
        const Origin &origin = origins[kind][i];
        const int from = memberOf(members[position].sources[i]);
        const int expected = origin.kind < 0 ? -1 : at(origin.kind, round - origin.before);
        if ((origin.before == 1) == carried && from != expected) {
          return false;
        }
      }
    }
    return true;
  }

  bool isComplete(int round) const {
    for (size_t kind = 0; kind < kinds.size(); ++kind) {
      if (at(kind, round) < 0) {
        return false;
      }
    }
    return true;
  }

  /// Lower halves that nobody uses come for nothing with the upper ones.
  bool lacksLowHalvesAlone(int round) const {
    for (size_t kind = 0; kind < kinds.size(); ++kind) {
      if (at(kind, round) < 0 && !members[kinds[kind].begin()->second].isLow) {
        return false;
      }
    }
    return true;
  }

  /// Whether what no kind computes is one value, or splats.
  bool sharesKeys(int round, int other) const {
    for (size_t kind = 0; kind < kinds.size(); ++kind) {
      const int a = at(kind, round), b = at(kind, other);
      for (unsigned i = 0; a >= 0 && i < origins[kind].size(); ++i) {
        const Value first = members[a].sources[i], second = members[b].sources[i];
        if (origins[kind][i].kind < 0 && first != second && !(isSplat(first) && isSplat(second))) {
          return false;
        }
      }
    }
    return true;
  }

  /// Fixes the first and the last of the most rounds in a row that are alike.
  bool findRange() {
    int begin = low;
    bool isOpen = false;
    for (int round = low; round <= high; ++round) {
      const bool fits = lacksLowHalvesAlone(round) && isRegular(round, /*carried=*/false);
      if (!isOpen || !fits || !isRegular(round, /*carried=*/true) || !sharesKeys(round, begin)) {
        isOpen = fits && isComplete(round);
        begin = round;
      }
      if (isOpen && round - begin > last - first) {
        first = begin;
        last = round;
      }
    }
    return last - first + 1 >= static_cast<int>(fewestRounds);
  }

  /// The kinds in an order in which each reads what is there, and little waits for its use: what
  /// uses a product before the next product.
  SmallVector<size_t> sortKinds() const {
    SmallVector<size_t> order;
    DenseSet<size_t> known;
    auto urgency = [&](size_t kind) {
      const Member &member = members[kinds[kind].begin()->second];
      if (!member.isLow) {
        return member.isProduct ? 1 : 3;
      }
      // With its upper half it is computed already.
      const bool isThere = llvm::any_of(order, [&](size_t other) {
        return members[kinds[other].begin()->second].isProduct && origins[other] == origins[kind];
      });
      return isThere ? 2 : 0;
    };
    while (order.size() < kinds.size()) {
      std::optional<size_t> best;
      for (size_t kind = 0; kind < kinds.size(); ++kind) {
        const bool isReady = llvm::all_of(origins[kind], [&](const Origin &origin) {
          return origin.kind < 0 || origin.before == 1 || known.count(origin.kind);
        });
        if (isReady && !known.count(kind) && (!best || urgency(kind) > urgency(*best))) {
          best = kind;
        }
      }
      if (!best) {
        return {};
      }
      known.insert(*best);
      order.push_back(*best);
    }
    return order;
  }

  bool readKeysAndCarried() {
    const SmallVector<size_t> order = sortKinds();
    DenseMap<int, unsigned> stepOf;
    for (size_t kind : order) {
      stepOf[static_cast<int>(kind)] = static_cast<unsigned>(result.steps.size());
      ProductRounds::Positions &step = result.steps.emplace_back();
      for (int round = first; round <= last; ++round) {
        step.push_back(at(kind, round));
      }
    }
    // A value of the first round means one thing: roles are carried steps, and keys below zero.
    DenseMap<Value, int> roles;
    for (size_t kind : order) {
      for (unsigned i = 0; i < origins[kind].size(); ++i) {
        const Origin &origin = origins[kind][i];
        const Value initial = members[at(kind, first)].sources[i];
        if (origin.kind >= 0 && origin.before == 0) {
          continue;
        }
        int role = 0;
        if (origin.kind >= 0) {
          const unsigned step = stepOf[origin.kind];
          auto known = llvm::find_if(result.carried, [&](auto &one) { return one.step == step; });
          if (known == result.carried.end()) {
            result.carried.push_back({initial, step});
          } else if (known->initial != initial) {
            return false;
          }
          role = static_cast<int>(step);
        } else {
          SmallVector<Value> key;
          for (int round = first; round <= last; ++round) {
            const int position = at(kind, round);
            key.push_back(position < 0 ? initial : members[position].sources[i]);
          }
          auto known = llvm::find(result.keys, key);
          role = -1 - static_cast<int>(known - result.keys.begin());
          if (known == result.keys.end()) {
            result.keys.push_back(key);
          }
        }
        if (roles.try_emplace(initial, role).first->second != role) {
          return false;
        }
      }
    }
    llvm::erase_if(result.keys, [](const auto &key) { return llvm::all_equal(key); });
    return !order.empty() && !result.carried.empty();
  }

  /// Later operations and uses outside of the chain see what the last round leaves, no more.
  bool staysInside() {
    DenseSet<int> inside, leaving, later;
    for (const ProductRounds::Positions &step : result.steps) {
      inside.insert(step.begin(), step.end());
    }
    for (const ProductRounds::Carried &one : result.carried) {
      leaving.insert(result.steps[one.step].back());
    }
    for (int i = 0; i < static_cast<int>(chain.size()); ++i) {
      if (inside.count(i)) {
        const bool isUsed =
            llvm::any_of(chain[i]->getUsers(), [&](Operation *user) { return !dead.count(user); });
        if (isUsed && !leaving.count(i)) {
          return false;
        }
        continue;
      }
      bool isLater = false;
      for (Value source : members[i].sources) {
        int from = memberOf(source);
        if (from >= 0 && inside.count(from) && !leaving.count(from)) {
          return false;
        }
        isLater |= from >= 0 && (inside.count(from) || later.count(from));
      }
      if (isLater) {
        later.insert(i);
      }
      (isLater ? result.after : result.before).push_back(i);
    }
    return llvm::all_of(result.carried, [&](const ProductRounds::Carried &one) {
      int from = memberOf(one.initial);
      return from < 0 || (!inside.count(from) && !later.count(from));
    });
  }

  const ProductChain &chain;
  const DenseSet<Operation *> &dead;
  DenseMap<Operation *, unsigned> positions;
  SmallVector<Member> members;
  SmallVector<DenseMap<int, unsigned>> kinds;  ///< positions by round
  SmallVector<SmallVector<Origin, 2>> origins; ///< by kind and operand
  int low = INT_MAX, high = INT_MIN;           ///< rounds that there are
  int first = 0, last = -1;
  ProductRounds result;
};

} // namespace

std::optional<ProductRounds> findProductRounds(const ProductChain &chain,
                                               const DenseSet<Operation *> &dead) {
  return RoundFinder(chain, dead).find();
}

} // namespace nereid::cpu
