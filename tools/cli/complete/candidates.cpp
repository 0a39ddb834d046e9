#include "complete/candidates.hpp"

#include <algorithm>
#include <functional>

#include "circoll/algorithm.hpp"
#include "circoll/types.hpp"
#include "option_words.hpp"

namespace circoll::cli {
namespace {

struct Candidate {
  std::string word{};
  std::string about{};
};

struct Found {
  std::vector<Candidate> words{};
  bool files = false;
};

template <typename Enum>
void add_names(std::size_t count, Found& found) {
  for (std::size_t i = 0; i < count; ++i) found.words.push_back({std::string(to_string(static_cast<Enum>(i))), ""});
}

void add_ids(Found& found) {
  for (const Collective collective : all_collectives) {
    for (const Algorithm* const a : algorithms_of(collective)) {
      found.words.push_back({a->id(collective), std::string(a->summary)});
    }
  }
}

/// The values that may stand for an option, or for a word without one.
Found values_of(const CLI::Option& option) {
  Found found;
  for (const std::string& choice : value_choices(option)) found.words.push_back({choice, ""});
  if (!found.words.empty()) return found;
  const std::string kind = value_word(option);
  if (kind == "TYPE") add_names<Type>(type_count, found);
  if (kind == "OP") add_names<Op>(op_count, found);
  if (kind == "COLLECTIVE" || kind == "WHAT") add_names<Collective>(collective_count, found);
  if (kind == "ID" || kind == "WHAT") add_ids(found);
  if (kind == "POLICY") {
    for (const char* const name : {"auto", "model", "classic", "openmpi_fixed", "native", "file:"}) {
      found.words.push_back({name, ""});
    }
  }
  found.files = kind == "ID" || kind == "WHAT" || kind == "PROGRAM" || kind == "PREFIX" || kind == "DIRECTORY" ||
                kind.starts_with("FILE");
  return found;
}

const CLI::Option* option_named(const CLI::App& command, const std::string& word) {
  for (const CLI::Option* const option : command.get_options()) {
    const std::vector<std::string> names = dashed_names(*option);
    if (std::find(names.begin(), names.end(), word) != names.end()) return option;
  }
  return nullptr;
}

/// The option for the next word without a dash, after `used` of them.
const CLI::Option* positional(const CLI::App& command, std::size_t used) {
  for (const CLI::Option* const option : command.get_options()) {
    if (!option->get_positional()) continue;
    if (used == 0 || option->get_expected_max() > 1) return option;
    --used;
  }
  return nullptr;
}

Found names_of_options(const CLI::App& command) {
  Found found;
  for (const CLI::Option* const option : command.get_options()) {
    for (const std::string& name : option->get_lnames()) {
      found.words.push_back({"--" + name, option->get_description()});
    }
  }
  return found;
}

Found names_of_commands(const CLI::App& app) {
  Found found;
  for (const CLI::App* const command : app.get_subcommands({})) {
    found.words.push_back({command->get_name(), command->get_description()});
  }
  return found;
}

/// Reads the words before the cursor, as far as that takes to know what may stand there.
struct Reader {
  const CLI::App* command;
  const CLI::Option* pending = nullptr;  ///< an option whose value is next
  std::size_t used = 0;                  ///< words without a dash
  bool only_words = false;               ///< behind a "--"

  void read(const std::string& word) {
    // Shells that part words at "=" have it as a word of its own.
    if (pending != nullptr && word == "=") return;
    if (pending != nullptr) {
      pending = nullptr;
    } else if (word == "--") {
      only_words = true;
    } else if (word.starts_with('-') && !only_words) {
      const CLI::Option* const option = option_named(*command, word);
      if (option != nullptr && !is_flag(*option)) pending = option;
    } else if (const CLI::App* const next = used == 0 ? command_named(word) : nullptr) {
      command = next;
    } else {
      ++used;
    }
  }

  [[nodiscard]] const CLI::App* command_named(const std::string& word) const {
    for (const CLI::App* const one : command->get_subcommands({})) {
      if (one->get_name() == word) return one;
    }
    return nullptr;
  }

  /// The words that may stand in place of `word`; `kept` is the part of it that stays as it is.
  [[nodiscard]] Found at(const std::string& word, std::string& kept) const {
    if (pending != nullptr) return values_of(*pending);
    const std::size_t equals = word.find('=');
    if (word.starts_with("--") && equals != std::string::npos && !only_words) {
      kept = word.substr(0, equals + 1);
      const CLI::Option* const option = option_named(*command, word.substr(0, equals));
      return option != nullptr && !is_flag(*option) ? values_of(*option) : Found{};
    }
    if (word.starts_with('-') && !only_words) return names_of_options(*command);
    if (!command->get_subcommands({}).empty()) return names_of_commands(*command);
    const CLI::Option* const next = positional(*command, used);
    return next != nullptr ? values_of(*next) : Found{};
  }
};

}  // namespace

std::string candidates(const CLI::App& app, const std::vector<std::string>& words) {
  Reader reader{&app};
  for (std::size_t i = 0; i + 1 < words.size(); ++i) reader.read(words[i]);
  std::string word = words.empty() ? std::string() : words.back();
  if (reader.pending != nullptr && word == "=") word.clear();
  std::string kept;
  Found found = reader.at(word, kept);
  // In a list the last name is completed.
  const std::size_t comma = word.rfind(',');
  if (comma != std::string::npos && comma + 1 > kept.size()) kept = word.substr(0, comma + 1);
  const std::string begun = word.substr(kept.size());
  std::string text;
  for (const Candidate& candidate : found.words) {
    if (!candidate.word.starts_with(begun)) continue;
    std::string about = candidate.about;
    std::replace(about.begin(), about.end(), '\n', ' ');
    text += kept + candidate.word + (about.empty() ? "" : "\t" + about) + "\n";
  }
  return found.files ? text + ":files\n" : text;
}

}  // namespace circoll::cli
