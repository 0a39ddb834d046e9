// The makers of wrappers. Each puts its wrapper in front of `next`, or returns `next` if the environment asks for none.
#pragma once

#include <memory>

#include "interpose/serving.hpp"

namespace circoll::interpose {

[[nodiscard]] std::unique_ptr<Serving> wrap_in_check(const Wish& wish, std::unique_ptr<Serving> next);
[[nodiscard]] std::unique_ptr<Serving> wrap_in_learning(const Wish& wish, std::unique_ptr<Serving> next);
[[nodiscard]] std::unique_ptr<Serving> wrap_in_survival(const Wish& wish, std::unique_ptr<Serving> next);

}  // namespace circoll::interpose
