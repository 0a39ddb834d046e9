// Machine files.
#include <cmath>
#include <nlohmann/json.hpp>

#include "circoll/machine.hpp"
#include "circoll/select.hpp"
#include "select/text_file.hpp"

namespace circoll {

Machine default_machine() { return {}; }

Machine machine_from_json(std::string_view json, const std::string& source) {
  const select::Json root = select::read_json(json, source);
  const select::Members members(root, source,
                                {"circoll_machine", "name", "about", "alpha_s", "beta_s_per_byte", "gamma_s_per_byte",
                                 "f_alpha", "f_beta", "node_alpha_s", "node_beta_s_per_byte"});
  members.require_version("circoll_machine");
  if (members.find("about") != nullptr) (void)members.text("about");
  const auto positive = [&](std::string_view key) {
    const double value = members.number(key);
    if (!(value > 0) || !std::isfinite(value)) members.fail(members.at(key), std::string(key) + " must be above 0");
    return value;
  };
  const auto ratio = [&](std::string_view key) { return members.find(key) == nullptr ? 1.0 : positive(key); };
  const auto level = [&](std::string_view key) { return members.find(key) == nullptr ? 0.0 : positive(key); };
  return {.name = members.text("name"),
          .alpha_s = positive("alpha_s"),
          .beta_s_per_byte = positive("beta_s_per_byte"),
          .gamma_s_per_byte = positive("gamma_s_per_byte"),
          .f_alpha = ratio("f_alpha"),
          .f_beta = ratio("f_beta"),
          .node_alpha_s = level("node_alpha_s"),
          .node_beta_s_per_byte = level("node_beta_s_per_byte")};
}

Machine read_machine(const std::string& path) { return machine_from_json(select::read_text_file(path), path); }

std::string to_json(const Machine& machine, const std::string& about) {
  nlohmann::ordered_json json = {{"circoll_machine", 1}, {"name", machine.name}};
  if (!about.empty()) json["about"] = about;
  json["alpha_s"] = machine.alpha_s;
  json["beta_s_per_byte"] = machine.beta_s_per_byte;
  json["gamma_s_per_byte"] = machine.gamma_s_per_byte;
  json["f_alpha"] = machine.f_alpha;
  json["f_beta"] = machine.f_beta;
  if (machine.node_alpha_s > 0) json["node_alpha_s"] = machine.node_alpha_s;
  if (machine.node_beta_s_per_byte > 0) json["node_beta_s_per_byte"] = machine.node_beta_s_per_byte;
  return json.dump(2, ' ', false, nlohmann::json::error_handler_t::replace) + "\n";
}

}  // namespace circoll
