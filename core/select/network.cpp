#include "select/network.hpp"

#include <filesystem>

#include "circoll/error.hpp"
#include "circoll/select.hpp"
#include "facts/environment.hpp"
#include "facts/files.hpp"
#include "facts/network_name.hpp"
#include "facts/text.hpp"
#include "select/machine.hpp"
#include "select/profile.hpp"
#include "select/text_file.hpp"

namespace circoll::select {

namespace fs = std::filesystem;

std::string no_network_because(std::string* complaint) {
  const std::string value = environment("CIRCOLL_MEASURE").value_or("auto");
  if (value == "off") return "CIRCOLL_MEASURE is off";
  if (value != "auto") *complaint = "CIRCOLL_MEASURE: '" + value + "' is neither auto nor off; auto is used";
  return environment("CIRCOLL_MACHINE") ? "CIRCOLL_MACHINE names a machine" : "";
}

std::string network_key(const std::string& library) {
  const auto cores = environment("CIRCOLL_CORES");
  return library + " over " + network_name() + (cores ? ", hosts by CIRCOLL_CORES=" + *cores : "");
}

std::optional<std::string> network_file(const std::string& key) {
  const auto directory = user_directory("XDG_CACHE_HOME", ".cache");
  if (!directory) return std::nullopt;
  return *directory + "/circoll/networks/" + profile_file_name({.library = key, .processor = ""});
}

KeptNetwork read_network(const std::string& file, const std::string& key) {
  std::error_code none;
  if (!fs::exists(file, none)) return {};
  try {
    if (!fs::is_regular_file(file)) throw Error(ErrorCode::invalid_argument, file + " is no file");
    const Machine machine = machine_from_json(read_text_file(file), file);
    if (machine.name != key) throw Error(ErrorCode::invalid_argument, file + " is of '" + machine.name + "'");
    if (machine.overhead_s == 0) return {};  // of a version that did not measure it
    return {.numbers = network_of(machine)};
  } catch (const std::exception& error) {
    return {.complaint =
                "the kept numbers of this network are not used, and measured anew: " + std::string(error.what())};
  }
}

std::string keep_network(const std::string& file, const std::string& key, const NetworkNumbers& numbers,
                         const std::string& about) {
  try {
    std::error_code error;
    fs::create_directories(directory_of(file), error);
    replace_file(file, to_json(with_network(default_machine(), numbers, key), about));
    return {};
  } catch (const std::exception& error) {
    return error.what();
  }
}

std::string readable(const NetworkNumbers& numbers) {
  const auto ratio = [](double value) { return std::to_string(value).substr(0, 4); };
  return "alpha " + readable_time(numbers.alpha_s) + ", beta " + readable_time(numbers.beta_s_per_byte) +
         " a byte, f_alpha " + ratio(numbers.f_alpha) + ", f_beta " + ratio(numbers.f_beta) + ", overhead " +
         readable_time(numbers.overhead_s) + " one way" +
         (numbers.overhead_both_s > 0 ? " and " + readable_time(numbers.overhead_both_s) + " both" : std::string());
}

}  // namespace circoll::select
