#include "prepare/signature.hpp"

#include "circoll/collectives.hpp"
#include "facts/hash.hpp"

namespace circoll::prepare {

std::uint64_t Signature::hash() const {
  QuickHash hash;
  hash.add(reinterpret_cast<std::uintptr_t>(head.choice));
  hash.add(head.type_id);
  hash.add(static_cast<std::uint64_t>(head.count));
  hash.add(static_cast<std::uint64_t>(head.extent_bytes));
  hash.add(static_cast<std::uint64_t>(head.size) << 32U ^ static_cast<std::uint64_t>(head.rank));
  hash.add(static_cast<std::uint64_t>(head.root) << 16U | static_cast<std::uint64_t>(head.collective) << 1U |
           static_cast<std::uint64_t>(head.in_place));
  for (const Numbers* numbers : arrays()) {
    for (Rank i = 0; i < numbers->size; ++i) hash.add(static_cast<std::uint64_t>((*numbers)[i]));
  }
  return hash.value();
}

Count Signature::deciding_bytes() const {
  if (counts.size == 0) {
    return Amounts::of_count(head.collective, head.size, head.count, head.message_bytes).deciding_bytes();
  }
  Count elements = 0;
  for (Rank i = 0; i < counts.size; ++i) elements += counts[i];
  return Amounts::of_vector(head.collective, head.size, elements * head.message_bytes).deciding_bytes();
}

StoredSignature::StoredSignature(const Signature& signature) : head_(signature.head) {
  for (std::size_t a = 0; a < arrays_.size(); ++a) {
    const Numbers& numbers = *signature.arrays()[a];
    arrays_[a].resize(static_cast<std::size_t>(numbers.size));
    for (Rank i = 0; i < numbers.size; ++i) arrays_[a][static_cast<std::size_t>(i)] = numbers[i];
  }
}

bool StoredSignature::equals(const Signature& signature) const {
  if (!(head_ == signature.head)) return false;
  for (std::size_t a = 0; a < arrays_.size(); ++a) {
    const Numbers& numbers = *signature.arrays()[a];
    const std::vector<Count>& copy = arrays_[a];
    if (copy.size() != static_cast<std::size_t>(numbers.size)) return false;
    for (std::size_t i = 0; i < copy.size(); ++i) {
      if (copy[i] != numbers[static_cast<Rank>(i)]) return false;
    }
  }
  return true;
}

std::size_t StoredSignature::memory_bytes() const {
  std::size_t numbers = 0;
  for (const std::vector<Count>& array : arrays_) numbers += array.capacity();
  return numbers * sizeof(Count);
}

}  // namespace circoll::prepare
