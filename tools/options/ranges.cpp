#include "options/ranges.hpp"

#include <fmt/format.h>
#include <CLI/CLI.hpp>

#include <functional>
#include <limits>
#include <utility>

namespace circoll::options {
namespace {

/// A check of a number by a function that says what it must be; empty: it is that.
CLI::Validator number_that(std::function<std::string(double)> wrong) {
  return {[wrong = std::move(wrong)](std::string& text) -> std::string {
            double number = 0;
            if (!CLI::detail::lexical_cast(text, number)) return fmt::format("is a number, not '{}'", text);
            const std::string must = wrong(number);
            return must.empty() ? must : fmt::format("is {}, not {}", must, text);
          },
          ""};
}

}  // namespace

CLI::Validator at_least(std::int64_t least) { return between(least, std::numeric_limits<std::int64_t>::max()); }

CLI::Validator between(std::int64_t least, std::int64_t most) {
  return number_that([=](double number) {
    if (!(number >= static_cast<double>(least))) return fmt::format("at least {}", least);
    if (number > static_cast<double>(most)) return fmt::format("at most {}", most);
    return std::string();
  });
}

CLI::Validator above_zero() {
  return number_that([](double number) { return number > 0 ? std::string() : std::string("more than 0"); });
}

CLI::Validator inside_zero_one() {
  return number_that(
      [](double number) { return number > 0 && number < 1 ? std::string() : std::string("between 0 and 1"); });
}

std::string failure_message(const CLI::App* app, const CLI::Error& error) {
  std::string text = CLI::FailureMessage::simple(app, error);
  const std::size_t colon = text.find(": is ");
  if (text.starts_with("-") && colon < text.find('\n') && colon < text.find(' ')) text.erase(colon, 1);
  return text;
}

}  // namespace circoll::options
