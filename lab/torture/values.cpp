// Contents of buffers, packed.
#include <algorithm>
#include <cstring>
#include <string_view>

#include "instance.hpp"
#include "random.hpp"
#include "types.hpp"

namespace circoll::torture {
namespace {

/// A number that the operator may meet in a type of `bytes` bytes.
std::int64_t number(Op op, Random& random, int rank, int size, Count bytes, bool is_signed) {
  switch (op) {
    case Op::sum: {
      const std::int64_t most =
          std::min<std::int64_t>(bytes == 1 ? 120 : 4000, std::int64_t{1} << (8 * bytes - 2)) / size;
      return random.between(is_signed ? -most : 0, most);
    }
    case Op::prod:  // not more than 64 in the end
      if (rank < 6 && random.percent(50)) return 2;
      return is_signed && random.percent(30) ? -1 : 1;
    case Op::land:
    case Op::lor:
    case Op::lxor:
      return random.percent(70) ? 1 : 0;
    case Op::minloc:
    case Op::maxloc:
      return random.below(4);
    default: {
      const std::int64_t most = bytes == 1 ? 100 : 20000;
      return random.between(is_signed ? -most : 0, most);
    }
  }
}

template <typename T>
void put(std::byte* to, T value) {
  std::memcpy(to, &value, sizeof value);
}
template <typename T>
T get(const std::byte* from) {
  T value{};
  std::memcpy(&value, from, sizeof value);
  return value;
}

void put_integer(std::byte* to, Count bytes, std::int64_t value) {
  std::memcpy(to, &value, static_cast<std::size_t>(bytes));  // little-endian
}

/// A fraction that is not a sum of few powers of two, and of either sign.
long double fraction(Random& random) {
  return static_cast<long double>(random.between(-1000000, 1000000)) / 3.0L /
         static_cast<long double>(random.between(1, 1000));
}

}  // namespace

long double get_floating(const std::byte* from, Count bytes) {
  if (bytes == 4) return static_cast<long double>(get<float>(from));
  if (bytes == 8) return static_cast<long double>(get<double>(from));
  return get<long double>(from);
}

void put_floating(std::byte* to, Count bytes, long double value) {
  if (bytes == 4) return put(to, static_cast<float>(value));
  if (bytes == 8) return put(to, static_cast<double>(value));
  std::memset(to, 0, 16);  // 10 bytes of value, 6 of padding
  put(to, value);
}

void fill_noise(std::uint64_t seed, std::span<std::byte> bytes) {
  Random random(seed);
  std::size_t i = 0;
  for (; i + 8 <= bytes.size(); i += 8) put(&bytes[i], random.next());
  for (const std::uint64_t last = random.next(); i < bytes.size(); ++i)
    bytes[i] = static_cast<std::byte>(last >> (8 * (i % 8)));
}

void fill_values(const Operation& operation, std::uint64_t stream, int rank, int size, std::span<std::byte> packed) {
  const BaseType base = base_type(operation.base);
  const bool bitwise = operation.op == Op::band || operation.op == Op::bor || operation.op == Op::bxor;
  const bool moved =
      !is_reducing(operation.collective) && (base.family == Family::integer || base.family == Family::pair);
  if (base.family == Family::bytes || base.family == Family::character || base.family == Family::words ||
      (base.family == Family::integer && bitwise) || moved) {
    return fill_noise(stream, packed);
  }
  Random random(stream);
  const auto step = static_cast<std::size_t>(base.packed_bytes);
  for (std::size_t i = 0; i + step <= packed.size(); i += step) {
    std::byte* const to = &packed[i];
    const auto draw = [&] { return number(operation.op, random, rank, size, base.component_bytes, base.is_signed); };
    const auto real = [&] { return operation.fractions ? fraction(random) : static_cast<long double>(draw()); };
    switch (base.family) {
      case Family::integer:
        put_integer(to, base.packed_bytes, draw());
        break;
      case Family::boolean:
        put_integer(to, 1, random.percent(70) ? 1 : 0);
        break;
      case Family::floating:
        put_floating(to, base.component_bytes, real());
        break;
      case Family::complex:
        put_floating(to, base.component_bytes, real());
        put_floating(to + base.component_bytes, base.component_bytes,
                     operation.op == Op::prod && is_reducing(operation.collective) ? 0 : real());
        break;
      case Family::pair:
        if (std::string_view(base.name) == "double_int" || std::string_view(base.name) == "float_int") {
          put_floating(to, base.component_bytes, real());
        } else {
          put_integer(to, base.component_bytes, draw());
        }
        put_integer(to + base.component_bytes, 4, random.below(64));
        break;
      default:  // record
        put_integer(to, 4, random.between(-1000000, 1000000));
        put_floating(to + 4, 8, static_cast<long double>(random.between(-1000000, 1000000)));
    }
  }
}

}  // namespace circoll::torture
