#include "orchestrator/cli/typed_words.h"

namespace rematch::cli {

namespace {

class Reader {
 public:
  explicit Reader(const ProgramPage& program) : program_(program) {}

  void pass(const std::string& word) {
    if (awaited_ != nullptr) return take_value(*awaited_, word);
    if (only_positional_ || word.size() < 2 || word.front() != '-') return pass_positional(word);
    if (word == "--") {
      only_positional_ = true;
      return;
    }
    const auto equals = word.find('=');
    const OptionPage* option = find(word.substr(0, equals));
    if (option == nullptr || !option->takes_value) return;
    if (equals != std::string::npos) return take_value(*option, word.substr(equals + 1));
    awaited_ = option;
  }

  TypedWords end(const std::string& word) {
    typed_.verb = verb_;
    typed_.word = word;
    typed_.may_be_option = !only_positional_;
    if (awaited_ != nullptr) {
      typed_.wanted = awaited_;
      typed_.may_be_option = awaited_->value_may_be_left_out;
      return typed_;
    }
    const auto equals = word.find('=');
    if (!only_positional_ && word.starts_with("--") && equals != std::string::npos) {
      typed_.wanted = find(word.substr(0, equals));
      typed_.prefix = word.substr(0, equals + 1);
      typed_.word = word.substr(equals + 1);
      return typed_;
    }
    if (only_positional_ || !word.starts_with("-")) typed_.wanted = next_positional();
    return typed_;
  }

 private:
  const OptionPage* find(const std::string& name) const {
    if (verb_ != nullptr)
      if (const OptionPage* own = find_option(verb_->options, name)) return own;
    return find_option(program_.options, name);
  }

  void take_value(const OptionPage& option, const std::string& value) {
    awaited_ = nullptr;
    const std::string& name = option.names.back();
    if (name == "--workspace") typed_.workspace = value;
    if (name == "--study") typed_.study = value;
    if (name == "--against-study") typed_.against_study = value;
    if (name == "--db") typed_.database = value;
    if (name == "--against-db") typed_.against_database = value;
  }

  void pass_positional(const std::string& word) {
    if (verb_ == nullptr)
      verb_ = find_verb(program_, word);
    else
      ++num_positional_;
  }

  // nullptr: every one is typed already.
  const OptionPage* next_positional() const {
    if (verb_ == nullptr) return nullptr;
    std::size_t place = 0;
    for (const OptionPage& option : verb_->options)
      if (option.is_positional && place++ == num_positional_) return &option;
    return nullptr;
  }

  const ProgramPage& program_;
  const VerbPage* verb_ = nullptr;
  const OptionPage* awaited_ = nullptr;
  bool only_positional_ = false;
  std::size_t num_positional_ = 0;
  TypedWords typed_;
};

}  // namespace

TypedWords typed_words(const ProgramPage& program, const std::vector<std::string>& words) {
  Reader reader(program);
  for (std::size_t i = 0; i + 1 < words.size(); ++i) reader.pass(words[i]);
  return reader.end(words.empty() ? "" : words.back());
}

std::string unquoted(const std::string& word) {
  std::string text;
  char quote = 0;
  for (std::size_t i = 0; i < word.size(); ++i) {
    const char letter = word[i];
    if (quote == 0 && (letter == '\'' || letter == '"')) {
      quote = letter;
    } else if (letter == quote) {
      quote = 0;
    } else if (letter == '\\' && quote != '\'' && i + 1 < word.size()) {
      text += word[++i];
    } else {
      text += letter;
    }
  }
  return text;
}

}  // namespace rematch::cli
