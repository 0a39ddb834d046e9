// The name of this machine's processor.
#pragma once

#include <string>
#include <string_view>

namespace circoll {

/// The model that a text like /proc/cpuinfo names, without doubled spaces. On ARM, which names none, it is the numbers
/// of implementer and part. It is empty if there is nothing of the kind.
[[nodiscard]] std::string processor_name_in(std::string_view cpuinfo);
/// The model of this machine's first processor. If the system does not say it, the architecture.
[[nodiscard]] std::string processor_name();

}  // namespace circoll
