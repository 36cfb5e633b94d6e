// `rematch check-config [FILE]`: raw Megatron configurations, one JSON object a line, each accepted or refused with every rule that it
// meets.
#include <CLI/CLI.hpp>
#include <fstream>
#include <iostream>
#include <nlohmann/json.hpp>
#include <set>

#include "orchestrator/cli/verb.h"
#include "orchestrator/cli/warn.h"
#include "orchestrator/compat/check.h"

namespace rematch::cli {

namespace {

using compat::Policy;

bool is_blank(const std::string& line) { return line.find_first_not_of(" \t\r") == std::string::npos; }

// What the lines come to, told as they are read; json is one document and waits for the end.
class Checked {
 public:
  Checked(std::string format, std::string file, Policy policy, Streams streams)
      : format_(std::move(format)), file_(std::move(file)), policy_(policy), streams_(streams) {}

  void add(std::size_t line, const compat::CheckInput& input) {
    const compat::Judgement judgement = compat::judge(input.configuration, policy_);
    ++(judgement.accepted ? num_accepted_ : num_refused_);
    num_fragments_ += input.is_fragment ? 1 : 0;
    keys_left_.insert(input.keys_left.begin(), input.keys_left.end());
    if (format_ == "md") {
      streams_.out << compat::check_text(line, input, judgement, policy_);
    } else {
      tell(compat::check_json(line, input, judgement, policy_));
    }
  }

  void add(std::size_t line, const compat::LineProblem& problem) {
    ++num_broken_;
    streams_.err << file_ << ":" << line << ":" << problem.column << ": " << problem.message << "\n";
    if (format_ != "md") tell({{"line", line}, {"column", problem.column}, {"error", problem.message}});
  }

  Exit finish() {
    if (format_ == "json")
      streams_.out << nlohmann::json{{"schema", "rematch/checks/1"}, {"policy", policy_name()}, {"checks", records_}}.dump(2) << "\n";
    if (num_fragments_ > 0)
      warn(streams_.err, {base::WarningId::kConfigFragments,
                          std::to_string(num_fragments_) +
                              " without num_layers, hidden_size or num_attention_heads: laid over a plain model of 8 dense layers in "
                              "bf16 without dropout and graphed modules"});
    if (!keys_left_.empty())
      warn(streams_.err, {base::WarningId::kConfigKeysUnread,
                          "keys of a line that were not read: " + compat::joined({keys_left_.begin(), keys_left_.end()})});
    streams_.err << "rematch: " << num_accepted_ << " accepted, " << num_refused_ << " refused, " << num_broken_ << " not readable; policy "
                 << policy_name() << "\n";
    if (num_broken_ > 0) return Exit::kUsage;
    return num_refused_ > 0 ? Exit::kSweepInvalid : Exit::kOk;
  }

 private:
  const char* policy_name() const { return policy_ == Policy::kOurs ? "ours" : "megatron"; }
  void tell(nlohmann::json record) {
    if (format_ == "jsonl") {
      streams_.out << record.dump() << "\n";
    } else {
      records_.push_back(std::move(record));
    }
  }

  const std::string format_;
  const std::string file_;
  const Policy policy_;
  const Streams streams_;
  std::size_t num_accepted_ = 0;
  std::size_t num_refused_ = 0;
  std::size_t num_broken_ = 0;
  std::size_t num_fragments_ = 0;
  std::set<std::string> keys_left_;
  nlohmann::json records_ = nlohmann::json::array();
};

class CheckConfigVerb final : public Verb {
 public:
  std::string name() const override { return "check-config"; }
  std::string summary() const override {
    return "Say of raw Megatron configurations whether they are accepted, by which rules, and what resolves";
  }

  void declare(CLI::App& app) override {
    app.add_option("file", file_, "JSON lines; - is stdin")->capture_default_str();
    app.add_option("--core-revision", core_revision_, "Of lines that name no revision");
    app.add_option("--policy", policy_, "megatron: what its configuration class refuses; ours: every rule that refuses")
        ->check(CLI::IsMember({"megatron", "ours"}))
        ->capture_default_str();
    app.add_option("-f,--format", format_, "Of the judgements")->check(CLI::IsMember({"md", "json", "jsonl"}))->capture_default_str();
    app.add_flag("--json", as_json_, "The same as --format json");
    app.footer(
        "Examples:\n"
        "  rematch check-config configs.jsonl\n"
        "  rematch check-config configs.jsonl --policy ours -f jsonl\n"
        "  echo '{\"config\": {\"recompute_granularity\": \"full\"}}' | rematch check-config --core-revision 24bad8e6\n"
        "A line: {\"revision\": \"24bad8e6\", \"te_version\": \"2.18.0\", \"torch_version\": \"2.11.0\", \"config\": {...}}, config by "
        "Megatron's names; fields left out\n"
        "have Megatron's defaults. A config that does not name num_layers, hidden_size and num_attention_heads is laid over a plain model. "
        "A "
        "line may have\n"
        "\"surroundings\": recompute_activations, backward_by_grad, cross_attention (false where left out), stage_input_requires_grad "
        "(true).\n"
        "Every rule that a line meets is told, with its origin; Megatron itself stops at the first.\n"
        "Exit: 0 all accepted, 3 some refused, 2 usage, or a line that cannot be read; the others are judged all the same.");
  }

  Exit run(const GlobalOptions&, Streams streams) override {
    std::ifstream opened;
    if (file_ != "-") {
      opened.open(file_);
      if (!opened) {
        streams.err << "rematch: wanted a file of JSON lines that can be read; found none at " << file_ << "\n";
        return Exit::kUsage;
      }
    }
    return check(file_ == "-" ? std::cin : opened, streams);
  }

 private:
  Exit check(std::istream& lines, Streams streams) const {
    Checked checked(as_json_ ? "json" : format_, file_ == "-" ? "stdin" : file_, policy_ == "ours" ? Policy::kOurs : Policy::kMegatron,
                    streams);
    std::string line;
    for (std::size_t number = 1; std::getline(lines, line); ++number) {
      if (is_blank(line)) continue;
      const auto read = compat::read_check_line(line, core_revision_);
      std::visit([&](const auto& result) { checked.add(number, result); }, read);
    }
    return checked.finish();
  }

  std::string file_ = "-";
  std::optional<std::string> core_revision_;
  std::string policy_ = "megatron";
  std::string format_ = "md";
  bool as_json_ = false;
};

const VerbRegistrar<CheckConfigVerb> registrar;

}  // namespace

}  // namespace rematch::cli
