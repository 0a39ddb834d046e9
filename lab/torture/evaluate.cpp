// The comparison of received data with the data that should have come.
#include "evaluate.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>

#include "calls.hpp"
#include "quirks.hpp"

namespace circoll::torture {
namespace {

using Packed = std::vector<std::vector<std::byte>>;

std::string hex(const std::byte* from, std::size_t bytes) {
  std::string text = "0x";
  while (bytes-- > 0) text += fmt::format("{:02x}", static_cast<unsigned>(from[bytes]));  // little-endian
  return text;
}

class Comparison {
 public:
  Comparison(const Record& record, const Communicator& c)
      : record_(record),
        base_(base_type(record.operation->base)),
        expected_(*record.operation, c.rank, c.size, c.topology.get()) {
    expected_.fill(record.execution);
    const Side& side = expected_.recv();
    for (const Block& block : expected_.results()) got_.push_back(pack(side, got_address(), block, base_.packed_bytes));
  }

  [[nodiscard]] const Instance& instance() const { return expected_; }

  /// The first difference between the receive buffer and these results; empty if there is none.
  std::string differences(Packed results) {
    Side& side = expected_.recv();
    expected_.fill(record_.execution);
    std::byte* const address = side.memory.address();
    for (const Block& block : expected_.open()) transplant(block, side.element.type.get());
    for (std::size_t i = 0; i < results.size(); ++i) {
      const Block& block = expected_.results()[i];
      forgive(results[i], got_[i]);
      unpack(side, address, block, results[i]);
      // Where all numbers are right only padding may differ, which Open MPI 5 writes now and then when it unpacks.
      MPI_Datatype with_padding = side.element.with_padding.get();
      if (with_padding != MPI_DATATYPE_NULL && results[i] == got_[i]) transplant(block, with_padding);
    }
    const auto want = side.memory.bytes();
    const auto [at, unused] = std::ranges::mismatch(want, record_.received);
    if (at == want.end()) return "";
    for (std::size_t i = 0; i < results.size(); ++i) {
      const auto [a, b] = std::ranges::mismatch(results[i], got_[i]);
      if (a == results[i].end()) continue;
      const auto element =
          static_cast<std::size_t>(a - results[i].begin()) / static_cast<std::size_t>(base_.packed_bytes);
      const auto bytes = static_cast<std::size_t>(base_.packed_bytes);
      return fmt::format("block {}, element {} of {}: {} instead of {}", i, element, results[i].size() / bytes,
                         hex(got_[i].data() + element * bytes, bytes), hex(results[i].data() + element * bytes, bytes));
    }
    const auto place = static_cast<std::size_t>(at - want.begin());
    return fmt::format("{} {} bytes from the address was written",
                       side.memory.in_guard(place) ? "a byte outside of the buffer" : "a byte between elements",
                       side.memory.offset_of(place));
  }

  /// The results that rounded sums may have: those that came, where they are near enough.
  Packed near_enough() {
    const Sums sums = serial_sums(expected_, record_.execution);
    if (got_.empty()) return {};
    Packed results = got_;
    const auto step = static_cast<std::size_t>(base_.component_bytes);
    for (std::size_t i = 0; i < sums.values.size(); ++i) {
      std::byte* const at = results[0].data() + i * step;
      const long double value = get_floating(at, base_.component_bytes);
      if (std::fabs(value - sums.values[i]) <= sums.bounds[i]) continue;  // not so of what is no number
      put_floating(at, base_.component_bytes, sums.values[i]);
    }
    return results;
  }

 private:
  [[nodiscard]] const std::byte* got_address() const {
    return record_.received.data() + (expected_.recv().memory.address() - expected_.recv().memory.bytes().data());
  }

  /// Copies received memory to the expected memory where the operation leaves the contents open.
  void transplant(const Block& block, MPI_Datatype type) {
    if (block.items == 0) return;
    Side& side = expected_.recv();
    const Count place = block.place * side.element.extent;
    copy_typed(got_address() + place, static_cast<int>(block.items), type, side.memory.address() + place,
               static_cast<int>(block.items), type);
  }

  /// Numbers that are equal may differ in bits: zeros in their signs, long doubles in their padding.
  void forgive(std::vector<std::byte>& want, const std::vector<std::byte>& got) const {
    if (want == got || want.size() != got.size()) return;
    const bool numbers = base_.family == Family::floating || base_.family == Family::complex;
    if (!numbers) return;
    const auto step = static_cast<std::size_t>(base_.component_bytes);
    for (std::size_t i = 0; i + step <= want.size(); i += step) {
      const bool equal = get_floating(&want[i], base_.component_bytes) == get_floating(&got[i], base_.component_bytes);
      if (equal) std::copy_n(&got[i], step, &want[i]);
    }
  }

  const Record& record_;
  BaseType base_;
  Instance expected_;
  Packed got_;
};

Packed native_results(const Record& record, const Communicator& c, int* rc) {
  Instance native(*record.operation, c.rank, c.size, c.topology.get());
  native.fill(record.execution);
  *rc = call_native(record.operation->collective, native.arguments(c.oracle));
  Packed results;
  for (const Block& block : native.results()) {
    results.push_back(
        pack(native.recv(), native.recv().memory.address(), block, base_type(record.operation->base).packed_bytes));
  }
  return results;
}

}  // namespace

Judgement judge(const Record& record, const Communicator& c, bool serial_only) {
  const Operation& o = *record.operation;
  if (!traits_of(o.collective).moves_data) return {};
  Comparison comparison(record, c);
  if (o.fractions) {
    const std::string text = comparison.differences(comparison.near_enough());
    return {text.empty() ? Outcome::right : Outcome::wrong, text};
  }
  const bool serial = serial_only || c.oracle == MPI_COMM_NULL || is_broken_natively(o, Mode::blocking, c.size);
  std::string text;
  int rc = MPI_SUCCESS;
  if (!serial) {
    text = comparison.differences(native_results(record, c, &rc));
    if (text.empty()) return {};
  }
  text = comparison.differences(serial_results(comparison.instance(), record.execution));
  if (text.empty()) return {serial ? Outcome::right : Outcome::native_wrong, ""};
  return {Outcome::wrong, text};
}

}  // namespace circoll::torture
