// circoll: look at, prove, price and run collective algorithms without MPI.
#include <fmt/format.h>

#include <cstdio>
#include <exception>
#include <fstream>
#include <stdexcept>

#include "circoll/error.hpp"
#include "command_line.hpp"
#include "commands.hpp"
#include "complete/candidates.hpp"
#include "facts/text.hpp"

namespace circoll::cli {

void misuse(const std::string& what) { throw Error(ErrorCode::invalid_argument, what); }

void print(const std::string& text) {
  if (std::fwrite(text.data(), 1, text.size(), stdout) != text.size() || std::fflush(stdout) != 0) {
    throw std::runtime_error("standard output cannot be written");
  }
}

void write_file(const std::string& path, const std::string& text) {
  std::ofstream file(path, std::ios::binary);
  file << text;
  file.close();
  if (!file) throw std::runtime_error(fmt::format("'{}' cannot be written", path));
}

std::string with_params(const Selection& selection) {
  return fmt::format("{}/{}", to_string(selection.collective), selection.text());
}

CLI::Validator collective_name() { return {rewrite_collective, "COLLECTIVE"}; }
CLI::Validator type_name() { return {rewrite_type, "TYPE"}; }
CLI::Validator op_name() { return {rewrite_op, "OP"}; }
CLI::Validator whole_number() { return {rewrite_number, "NUMBER"}; }
CLI::Validator number_of_bytes() { return {rewrite_bytes, "BYTES"}; }

namespace {

/// True for errors that another command line would avoid.
bool is_misuse(ErrorCode code) {
  return code == ErrorCode::invalid_argument || code == ErrorCode::unknown_name || code == ErrorCode::unsupported ||
         code == ErrorCode::parse;
}

int run(int argc, char** argv) {
  Context context;
  CLI::App app;
  add_commands(app, context);
  std::vector<std::string> words = command_words(argc, argv);
  if (!words.empty() && words.front() == "__complete") {
    print(candidates(app, {words.begin() + 1, words.end()}));
    return exit_ok;
  }
  if (const std::string wrong = mistyped_command(app, words); !wrong.empty()) {
    fmt::print(stderr, "circoll: {}\n", wrong);
    return exit_misuse;
  }
  // It comes before the callbacks of commands, which do the work.
  if (take_dry_run(words)) app.parse_complete_callback([] { throw CLI::Success(); });
  try {
    app.parse(reversed(words));
  } catch (const CLI::ExtrasError&) {
    fmt::print(stderr, "circoll: {}\n", mistyped_argument(app));
    return exit_misuse;
  } catch (const CLI::ParseError& error) {
    return app.exit(error) == 0 ? exit_ok : exit_misuse;  // app.exit() prints help or the error
  } catch (const Error& error) {
    fmt::print(stderr, "circoll: {}\n", error.what());
    return is_misuse(error.code()) ? exit_misuse : exit_failure;
  }
  return context.exit_code;
}

}  // namespace
}  // namespace circoll::cli

int main(int argc, char** argv) {
  try {
    return circoll::cli::run(argc, argv);
  } catch (const std::exception& error) {
    std::fprintf(stderr, "circoll: %s\n", error.what());
    return circoll::cli::exit_failure;
  }
}
