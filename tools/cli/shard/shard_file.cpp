#include "shard_file.hpp"

#include <fmt/chrono.h>
#include <fmt/format.h>
#include <unistd.h>
#include <CLI/CLI.hpp>

#include <array>
#include <cstdlib>
#include <ctime>
#include <filesystem>

#include "circoll/error.hpp"
#include "commands.hpp"
#include "select/text_file.hpp"

namespace circoll::cli {
namespace {

namespace fs = std::filesystem;

constexpr std::chrono::seconds between_saves{2};

std::string host() {
  std::array<char, 256> name{};
  return gethostname(name.data(), name.size() - 1) == 0 ? name.data() : "unknown";
}

/// The nodes that a batch system has given, or this host.
std::string nodes() {
  for (const char* name : {"SLURM_JOB_NODELIST", "LSB_HOSTS", "PBS_NODEFILE"}) {
    if (const char* const value = std::getenv(name)) return value;
  }
  return host();
}

std::string now() { return fmt::format("{:%Y-%m-%dT%H:%M:%SZ}", fmt::gmtime(std::time(nullptr))); }

}  // namespace

Shard ShardOptions::parsed() const {
  if (output.empty()) {
    throw Error(ErrorCode::invalid_argument, fmt::format("--shard {} needs -o FILE for its results", shard));
  }
  return shard.empty() ? Shard{} : parse_shard(shard);
}

void add_shard_options(CLI::App& command, ShardOptions& options) {
  command.add_option("--shard", options.shard, "Do this part only, I of N, into the file of -o");
  command.add_option("-o,--output", options.output,
                     "The file of results; one that has some of them is gone on with (docs/admin/rules.md)");
}

ShardFile::ShardFile(std::string path, const ShardedWork& work, const Shard& shard)
    : path_(std::move(path)), saved_(std::chrono::steady_clock::now()) {
  result_.work = work;
  result_.shard = shard;
  if (fs::exists(path_)) {
    ShardResult before = shard_from_json(select::read_text_file(path_), path_);
    require_same_work(before.work, path_, work, "this command");
    if (before.shard != shard) {
      throw Error(ErrorCode::invalid_argument, fmt::format("{} has shard {}, and shard {} was asked for", path_,
                                                           to_string(before.shard), to_string(shard)));
    }
    result_ = std::move(before);
    if (result_.done) return;
  }
  note("host", host());
  note("nodes", nodes());
  note("started", now());
}

void ShardFile::note(const std::string& name, const std::string& value) {
  std::string& known = result_.facts[name];
  if (known == value) return;
  known += (known.empty() ? "" : "; ") + value;
}

void ShardFile::add(std::int64_t item, const std::string& json) {
  result_.parts[item] = json;
  if (std::chrono::steady_clock::now() - saved_ > between_saves) save();
}

void ShardFile::save() {
  const std::string temporary = fmt::format("{}.{}.{}.tmp", path_, host(), getpid());
  write_file(temporary, to_json(result_));
  std::error_code error;
  fs::rename(temporary, path_, error);
  if (error) {
    fs::remove(temporary);
    throw Error(ErrorCode::invalid_argument, fmt::format("'{}' cannot be written: {}", path_, error.message()));
  }
  saved_ = std::chrono::steady_clock::now();
}

void ShardFile::finish() {
  result_.done = true;
  save();
}

}  // namespace circoll::cli
