// `rematch completion SHELL`: the script that a shell sources. It asks `rematch complete`, so that it holds no list of its own and stays
// right when the program is replaced.
#include <CLI/CLI.hpp>
#include <array>
#include <ostream>

#include "orchestrator/cli/verb.h"

namespace rematch::cli {

namespace {

struct Script {
  const char* shell;
  const char* text;
};

// Bash breaks words at '=' and ':'; the first loop puts them together again, and the last cuts what stands before the break off the
// answers. A word without an open quote is answered in quotes where it needs them.
constexpr const char* kBash = R"BASH(# bash completion of rematch: source <(rematch completion bash)
_rematch() {
  local program=${COMP_WORDS[0]/#\~/$HOME} line word="" i joined=0 text files="" head
  local -a words=()
  for ((i = 1; i <= COMP_CWORD; ++i)); do
    word=${COMP_WORDS[i]}
    if [[ $word == [=:]* ]] && ((${#words[@]} > 0)); then
      words[-1]+=$word
      joined=1
    elif ((joined)) && ((${#words[@]} > 0)) && [[ ${words[-1]} == *[=:] ]]; then
      words[-1]+=$word
      joined=0
    else
      words+=("$word")
      joined=0
    fi
  done
  local current=${words[-1]-}
  local value=$current
  [[ $current == --*=* ]] && value=${current#*=}
  head=""
  [[ $COMP_WORDBREAKS == *:* && $value == *:* ]] && head=${value%"${value##*:}"}
  [[ $COMP_WORDBREAKS == *=* && $value == *=* ]] && head=${value%"${value##*=}"}
  COMPREPLY=()
  while IFS= read -r line; do
    case $line in
      files\ *) files=${line#files } ;;
      candidate\ *)
        text=${line#candidate }
        text=${text%%$'\t'*}
        if [[ $value != [\'\"]* ]]; then
          printf -v text %q "$text"
          text=${text//\\=/=}
        fi
        COMPREPLY+=("${text#"$head"}")
        ;;
    esac
  done < <("$program" complete --shell bash -- "${words[@]}" 2>/dev/null)
  [[ ${COMPREPLY[0]-} == *= ]] && compopt -o nospace 2>/dev/null
  if [[ -n $files && $files != none ]]; then
    local -a found=()
    if [[ $files == folders ]]; then mapfile -t found < <(compgen -d -- "$value"); else mapfile -t found < <(compgen -f -- "$value"); fi
    for text in "${found[@]}"; do
      case $files in
        sweeps) [[ -d $text || $text == *.y?(a)ml || $text == *.json ]] || continue ;;
        tables) [[ -d $text || $text == *.json ]] || continue ;;
      esac
      COMPREPLY+=("$text")
    done
    compopt -o filenames 2>/dev/null
  fi
}
complete -F _rematch rematch
)BASH";

constexpr const char* kZsh = R"ZSH(#compdef rematch
# zsh completion of rematch: source <(rematch completion zsh), or this text as _rematch in a folder of $fpath
_rematch() {
  local program=${~words[1]} line files=none
  local -a texts shown
  for line in ${(f)"$($program complete --shell zsh -- "${(@Q)words[2,CURRENT]}" 2>/dev/null)"}; do
    case $line in
      files\ *) files=${line#files } ;;
      candidate\ *)
        line=${line#candidate }
        texts+=("${line%%$'\t'*}")
        if [[ $line == *$'\t'* ]]; then shown+=("${line%%$'\t'*}  -- ${line#*$'\t'}"); else shown+=("$line"); fi
        ;;
    esac
  done
  [[ $PREFIX == --*=* ]] && compset -P 1 '*='
  local -a settings others shown_others
  integer i
  for ((i = 1; i <= $#texts; ++i)); do
    if [[ $texts[i] == *= ]]; then settings+=("$texts[i]"); else others+=("$texts[i]"); shown_others+=("$shown[i]"); fi
  done
  (($#settings)) && compadd -S '' -- "${settings[@]}"
  (($#others)) && compadd -l -d shown_others -- "${others[@]}"
  case $files in
    sweeps) _files -g '*.(yaml|yml|json)(-.)' ;;
    tables) _files -g '*.json(-.)' ;;
    folders) _files -/ ;;
    any) _files ;;
  esac
  (($#texts)) || [[ $files != none ]]
}
if [[ $funcstack[1] == _rematch ]]; then _rematch "$@"; else compdef _rematch rematch; fi
)ZSH";

constexpr const char* kFish = R"FISH(# fish completion of rematch: rematch completion fish | source
function __rematch_complete
    set -l words (commandline -opc)
    set -l current (commandline -ct)
    set -l before
    set -q words[2]; and set before $words[2..-1]
    set -l program (string replace -r '^~' $HOME -- $words[1])
    for line in ($program complete --shell fish -- $before $current 2>/dev/null)
        set -l part (string split -m 1 ' ' -- $line)
        switch $part[1]
            case candidate
                echo $part[2]
            case files
                switch $part[2]
                    case sweeps
                        __fish_complete_suffix .yaml
                    case tables
                        __fish_complete_suffix .json
                    case folders
                        __fish_complete_directories
                    case any
                        __fish_complete_path
                end
        end
    end
end
complete -c rematch -f -a '(__rematch_complete)'
)FISH";

constexpr std::array<Script, 3> kScripts = {{{"bash", kBash}, {"zsh", kZsh}, {"fish", kFish}}};

class CompletionVerb final : public Verb {
 public:
  std::string name() const override { return "completion"; }
  std::string summary() const override { return "Print the script by which a shell completes verbs, options, studies, arms and trials"; }

  void declare(CLI::App& app) override {
    std::vector<std::string> shells;
    for (const Script& script : kScripts) shells.emplace_back(script.shell);
    app.add_option("shell", shell_, "Whose")->required()->check(CLI::IsMember(shells));
    app.footer(
        "Examples:\n"
        "  rematch completion bash\n"
        "  rematch completion zsh\n"
        "  rematch completion fish\n"
        "In ~/.bashrc: source <(rematch completion bash). In ~/.zshrc, after compinit: source <(rematch completion zsh). In\n"
        "~/.config/fish/config.fish: rematch completion fish | source.\n"
        "Exit: 0 printed, 2 no such shell.");
  }

  Exit run(const GlobalOptions&, Streams streams) override {
    for (const Script& script : kScripts)
      if (shell_ == script.shell) streams.out << script.text;
    return Exit::kOk;
  }

 private:
  std::string shell_;
};

const VerbRegistrar<CompletionVerb> registrar;

}  // namespace

}  // namespace rematch::cli
