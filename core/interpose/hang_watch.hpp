// CIRCOLL_HANG_AFTER: a program that hangs says so itself.
#pragma once

#include <chrono>
#include <condition_variable>
#include <cstdint>
#include <memory>
#include <mutex>
#include <optional>
#include <string>
#include <thread>

#include "record/reader.hpp"

namespace circoll::interpose {

/// Looks once a second how long this rank has been in its call. After the limit it prints, once, what `circoll hang`
/// would. Of the ranks of a node the one that has waited longest speaks.
class HangWatch {
 public:
  /// Watches the record at `path`, which lies in the directory. Returns nullptr if
  /// CIRCOLL_HANG_AFTER asks for nothing, or is wrong, of which rank 0 warns, or if no thread can be started.
  [[nodiscard]] static std::unique_ptr<HangWatch> begin(const std::string& directory, int rank,
                                                        const std::string& path);

  /// Throws std::system_error if no thread can be started.
  HangWatch(std::string directory, int rank, std::string path, std::chrono::seconds limit);
  ~HangWatch();
  HangWatch(const HangWatch&) = delete;
  HangWatch& operator=(const HangWatch&) = delete;

 private:
  void run() noexcept;
  /// The beginning of a blocking call that lasts longer than the limit; nothing if there is none.
  [[nodiscard]] std::optional<std::int64_t> hangs_since(const record::ReadRecord& record) const;
  [[nodiscard]] bool looks_hung() const { return hangs_since(record::read_record(path_)).has_value(); }
  /// True if nothing is left to do. Of the ranks of this node that can speak, the one that has waited longest does.
  [[nodiscard]] bool tell();

  std::string directory_;
  std::string path_;
  int rank_;
  std::chrono::seconds limit_;
  int left_to_others_ = 0;  ///< looks that found another rank that should speak
  std::mutex mutex_;
  std::condition_variable over_;
  bool is_over_ = false;
  std::thread thread_;
};

}  // namespace circoll::interpose
