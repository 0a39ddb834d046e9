// circoll completion prints the script by which a shell asks for completions.
#include <memory>

#include "commands.hpp"
#include "complete/scripts.hpp"

namespace circoll::cli {

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
