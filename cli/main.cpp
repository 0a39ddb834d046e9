// circoll: look at, prove, price and run collective algorithms without MPI.
#include <fmt/format.h>

#include <cstdio>
#include <exception>
#include <fstream>
#include <stdexcept>

#include "circoll/circoll.h"
#include "circoll/error.hpp"
#include "commands.hpp"
#include "core/text.hpp"

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
  CLI::App app("circoll: collective algorithms as schedules - list them, look at them, prove them, run them");
  app.name("circoll");
  app.set_version_flag("--version", circoll_version());
  app.require_subcommand(1);
  app.footer(
      "Examples:\n"
      "  circoll list --collective allreduce\n"
      "  circoll show allreduce/circulant_optimal -p 11 --rank 0\n"
      "Exit codes: 0 ok, 1 failure, 2 misuse. 'circoll COMMAND --help' says more.");
  Context context;
  add_cost(app, context);
  add_list(app, context);
  add_local(app, context);
  add_show(app, context);
  add_run(app, context);
  add_simulate(app, context);
  add_verify(app, context);
  add_combine(app, context);
  add_compare(app, context);
  add_plot(app, context);
  add_guidelines(app, context);
  add_tune(app, context);
  add_doctor(app, context);
  add_explain(app, context);
  add_explore(app, context);
  add_export(app, context);
  add_check(app, context);
  add_faults(app, context);
  add_calibrate(app, context);
  try {
    app.parse(argc, argv);
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
