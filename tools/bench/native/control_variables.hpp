// Control variables of the MPI library (MPI_T): found by name, read, and set.
#pragma once

#include <mpi.h>

#include <string>
#include <utility>
#include <vector>

namespace circoll::bench::native {

/// A variable that exists as long as the process.
class ControlVariable {
 public:
  /// The variable of this name, or nullptr if the library has none that holds a number. Begins to use MPI_T.
  [[nodiscard]] static const ControlVariable* find(const std::string& name);

  [[nodiscard]] const std::string& name() const { return name_; }
  [[nodiscard]] const std::string& description() const { return description_; }
  /// True if the library lets it be set while the program runs.
  [[nodiscard]] bool settable() const { return settable_; }
  /// Numbers and their names, where the library lists them.
  [[nodiscard]] const std::vector<std::pair<int, std::string>>& names() const { return names_; }

  [[nodiscard]] int read() const;
  /// Throws Error(unsupported) if the library refuses, or does not have the value afterwards.
  void write(int value) const;

 private:
  explicit ControlVariable(int index);

  std::string name_{}, description_{};
  bool settable_ = false;
  int bytes_ = 0;  ///< of the value; 0: it is no number
  std::vector<std::pair<int, std::string>> names_{};
  MPI_T_cvar_handle handle_{};
};

}  // namespace circoll::bench::native
