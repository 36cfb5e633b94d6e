// `rematch init PRESET`: writes a commented sweep file to start from; `--list`: the presets.
#include <CLI/CLI.hpp>
#include <filesystem>
#include <nlohmann/json.hpp>
#include <ostream>
#include <system_error>

#include "orchestrator/base/shell_text.h"
#include "orchestrator/cli/output_file.h"
#include "orchestrator/cli/text_table.h"
#include "orchestrator/cli/verb.h"
#include "orchestrator/launch/trainer.h"
#include "orchestrator/plan/starter.h"

namespace rematch::cli {

namespace {

base::Result<protocol::Describe> described_trainer(const GlobalOptions& options) {
  const auto trainer = launch::locate_trainer(options.trainer);
  if (!trainer) return trainer.error();
  return launch::describe_trainer(trainer.value());
}

Exit stop(Exit exit, const std::string& message, Streams streams) {
  streams.err << "rematch: " << message << "\n";
  return exit;
}

class InitVerb final : public Verb {
 public:
  std::string name() const override { return "init"; }
  std::string summary() const override { return "Write a commented sweep file for a preset of the trainer"; }

  void declare(CLI::App& app) override {
    CLI::Option* preset = app.add_option("preset", preset_, "A preset of the trainer; --list shows them");
    CLI::Option* list = app.add_flag("--list", lists_, "List the presets with family, size and ranks")->excludes(preset);
    app.add_flag("--json", as_json_, "With --list: print one JSON document")->needs(list);
    app.add_option("-o,--output", file_, "File to write; - is stdout; else PRESET.yaml here");
    app.add_option("--device", device_, "cpu of a tiny preset, cuda of another, if not given; meta: cuda, to be simulated")
        ->check(CLI::IsMember({"cpu", "cuda", "meta"}));
    app.add_option("--world-size", world_size_, "Ranks; else those of the preset's layout")->check(CLI::Range(1, 1'000'000));
    app.add_flag("--force", force_, "Replace a file that is there");
    app.footer(
        "Examples:\n"
        "  rematch init --list\n"
        "  rematch init moonlight_tiny\n"
        "  rematch init moonlight_16b -o moonlight.yaml\n"
        "  rematch init llama3_tiny --world-size 2 -o -\n"
        "The file says of each field what it is, and of each label whether it applies to the model and why not. A full-size preset has a\n"
        "layout for GPUs, and the file says where that is from; `rematch run --simulate` predicts it without one.\n"
        "Exit: 0 written or listed, 2 no such preset, a world size that its layout does not divide or the model cannot have, or a file "
        "that\n"
        "is there, 8 no trainer that can be asked, or the file cannot be written.");
  }

  Exit run(const GlobalOptions& options, Streams streams) override {
    if (!lists_ && preset_.empty()) return stop(Exit::kUsage, "wanted a preset; `rematch init --list` shows them", streams);
    const auto trainer = described_trainer(options);
    if (!trainer) return stop(Exit::kEnvironment, trainer.error().message, streams);
    if (lists_) return list(trainer.value(), streams);
    const auto text = plan::starter_sweep(trainer.value(), {preset_, device_, world_size_, file_ == "-" ? "" : file_});
    if (!text) return stop(Exit::kUsage, text.error().message, streams);
    return write(text.value(), streams);
  }

 private:
  Exit list(const protocol::Describe& trainer, Streams streams) const {
    std::vector<TableRow> rows = {{"preset", "family", "size", "ranks"}};
    nlohmann::json document{{"presets", nlohmann::json::array()}};
    for (const plan::StarterPreset& preset : plan::starter_presets(trainer)) {
      rows.push_back({preset.name, preset.family, preset.size, std::to_string(preset.world_size)});
      document["presets"].push_back({{"name", preset.name},
                                     {"family", preset.family},
                                     {"size", preset.size},
                                     {"is_tiny", preset.is_tiny},
                                     {"world_size", preset.world_size}});
    }
    streams.out << (as_json_ ? document.dump(2) + "\n" : text_table(rows));
    return Exit::kOk;
  }

  Exit write(const std::string& text, Streams streams) const {
    if (file_ == "-") {
      streams.out << text;
      return Exit::kOk;
    }
    const std::filesystem::path path = file_.empty() ? preset_ + ".yaml" : file_;
    std::error_code none;
    if (!force_ && std::filesystem::exists(std::filesystem::symlink_status(path, none)))
      return stop(Exit::kUsage, path.string() + " is there already; --force replaces it, -o names another", streams);
    try {
      write_whole_output(path, text);
    } catch (const std::system_error& error) {
      return stop(Exit::kEnvironment, path.string() + " was not written: " + error.what(), streams);
    }
    streams.err << "rematch: wrote " << path.string() << "; next: rematch plan " << base::shell_quoted(path.string()) << "\n";
    return Exit::kOk;
  }

  std::string preset_;
  bool lists_ = false;
  bool as_json_ = false;
  std::string file_;
  std::optional<std::string> device_;
  std::optional<std::int64_t> world_size_;
  bool force_ = false;
};

const VerbRegistrar<InitVerb> registrar;

}  // namespace

}  // namespace rematch::cli
