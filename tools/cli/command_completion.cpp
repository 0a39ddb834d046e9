// circoll completion prints the script by which a shell asks for completions; here are the answers, too.
#include <CLI/CLI.hpp>
#include <algorithm>
#include <memory>

#include "circoll/algorithm.hpp"
#include "circoll/types.hpp"
#include "commands.hpp"
#include "complete/scripts.hpp"
#include "option_words.hpp"

namespace circoll::cli {
namespace {

/// A word that may stand at the cursor, and what it is.
struct CompletionWord {
  std::string word{};
  std::string about{};
};

struct Completions {
  std::vector<CompletionWord> words{};
  bool files = false;
};

template <typename Enum>
void add_names(std::size_t count, Completions& found) {
  for (std::size_t i = 0; i < count; ++i) found.words.push_back({std::string(to_string(static_cast<Enum>(i))), ""});
}

void add_ids(Completions& found) {
  for (const Collective collective : all_collectives) {
    for (const Algorithm* const a : algorithms_of(collective)) {
      found.words.push_back({a->id(collective), std::string(a->summary)});
    }
  }
}

/// The values that may stand for an option, or for a word without one.
Completions values_of(const CLI::Option& option) {
  Completions found;
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
    if (std::ranges::find(names, word) != names.end()) return option;
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

Completions names_of_options(const CLI::App& command) {
  Completions found;
  for (const CLI::Option* const option : command.get_options()) {
    for (const std::string& name : option->get_lnames()) {
      found.words.push_back({"--" + name, option->get_description()});
    }
  }
  return found;
}

Completions names_of_commands(const CLI::App& app) {
  Completions found;
  for (const CLI::App* const command : app.get_subcommands({})) {
    found.words.push_back({command->get_name(), command->get_description()});
  }
  return found;
}

/// Reads the words before the cursor, as far as that takes to know what may stand there.
struct WordReader {
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
  [[nodiscard]] Completions at(const std::string& word, std::string& kept) const {
    if (pending != nullptr) return values_of(*pending);
    const std::size_t equals = word.find('=');
    if (word.starts_with("--") && equals != std::string::npos && !only_words) {
      kept = word.substr(0, equals + 1);
      const CLI::Option* const option = option_named(*command, word.substr(0, equals));
      return option != nullptr && !is_flag(*option) ? values_of(*option) : Completions{};
    }
    if (word.starts_with('-') && !only_words) return names_of_options(*command);
    if (!command->get_subcommands({}).empty()) return names_of_commands(*command);
    const CLI::Option* const next = positional(*command, used);
    return next != nullptr ? values_of(*next) : Completions{};
  }
};

}  // namespace

std::string candidates(const CLI::App& app, const std::vector<std::string>& words) {
  WordReader reader{&app};
  for (std::size_t i = 0; i + 1 < words.size(); ++i) reader.read(words[i]);
  std::string word = words.empty() ? std::string() : words.back();
  if (reader.pending != nullptr && word == "=") word.clear();
  std::string kept;
  Completions found = reader.at(word, kept);
  // In a list the last name is completed.
  const std::size_t comma = word.rfind(',');
  if (comma != std::string::npos && comma + 1 > kept.size()) kept = word.substr(0, comma + 1);
  const std::string begun = word.substr(kept.size());
  std::string text;
  for (const CompletionWord& candidate : found.words) {
    if (!candidate.word.starts_with(begun)) continue;
    std::string about = candidate.about;
    std::ranges::replace(about, '\n', ' ');
    text += kept + candidate.word + (about.empty() ? "" : "\t" + about) + "\n";
  }
  return found.files ? text + ":files\n" : text;
}

void add_completion(CLI::App& app, Context& /*context*/) {
  const auto shell = std::make_shared<std::string>();
  CLI::App* const command = app.add_subcommand("completion", "Print the completions of circoll for a shell");
  command->add_option("shell", *shell, "The shell")->required()->check(CLI::IsMember({"bash", "zsh", "fish"}));
  command->footer(
      "An installed circoll has them where shells look. Else:\n"
      "Examples:\n"
      "  circoll completion bash > circoll.bash && . ./circoll.bash\n"
      "  circoll completion zsh > _circoll     # in a directory of fpath, before compinit\n"
      "  circoll completion fish > circoll.fish && echo 'move it to ~/.config/fish/completions'");
  command->callback([shell] {
    print(std::string(*shell == "bash" ? bash_script : *shell == "zsh" ? zsh_script : fish_script));
  });
}

}  // namespace circoll::cli
