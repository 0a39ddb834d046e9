// The ledger of one rank's calls for the report, with a row per kind of call, never the calls themselves.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <unordered_map>

#include "interpose/event.hpp"

namespace circoll::interpose {

/// The class of a number of bytes. It is 0 for 0 bytes, k + 1 for those from 2^k up to 2^(k+1) - 1.
[[nodiscard]] int size_class(Count bytes);
/// The least number of bytes of a class.
[[nodiscard]] Count least_bytes(int size_class);

class Ledger {
 public:
  /// Adds a call. Allocates only for the first of its collective, mode, communicator size, algorithm (or why it is
  /// native) and size class. Not thread-safe.
  void add(const Event& event);
  /// All rows as a JSON array, for Report::add_rank.
  [[nodiscard]] std::string serialised() const;

 private:
  struct KeyView {
    CalledCollective collective;
    Mode mode;
    Rank ranks;
    const Algorithm* algorithm;
    std::string_view reason;  // of native calls; of served ones it would tell apart more than a report can show
    int size_class;
    friend bool operator==(const KeyView&, const KeyView&) = default;
  };
  struct Key {
    KeyView view;
    std::string reason;
    [[nodiscard]] operator KeyView() const {  // NOLINT(google-explicit-constructor): what the table compares
      KeyView key = view;
      key.reason = reason;
      return key;
    }
  };
  struct Hash {
    using is_transparent = void;
    [[nodiscard]] std::size_t operator()(const KeyView& key) const;
  };
  struct Equal {
    using is_transparent = void;
    [[nodiscard]] bool operator()(const KeyView& a, const KeyView& b) const { return a == b; }
  };
  struct Tally {
    std::int64_t calls = 0;
    std::int64_t bytes = 0;
    double seconds = 0;
    double inside_s = 0;
    double least_s = 0;          // of the shortest call
    std::int64_t own_calls = 0;  // of calls whose own time is known
    double own_s = 0;
    std::string algorithm;  // with the parameters of the first call
    std::string why;        // of the first call
  };
  std::unordered_map<Key, Tally, Hash, Equal> rows_;
};

}  // namespace circoll::interpose
