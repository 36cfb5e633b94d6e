#include "orchestrator/cli/command_line.h"

#include <CLI/CLI.hpp>
#include <algorithm>
#include <ostream>

#include "orchestrator/base/study_plan.h"
#include "orchestrator/cli/command_pages.h"
#include "orchestrator/cli/unknown_word.h"
#include "orchestrator/spec/sweep.h"
#include "probes/host/build_id.h"
#include "schemas/protocol/describe.h"
#include "schemas/protocol/launch_record.h"
#include "schemas/protocol/rank_record.h"
#include "schemas/protocol/trial.h"

namespace rematch::cli {

namespace {

// CLI11 puts the footer, where the examples stand, last.
class ExamplesFirst final : public CLI::Formatter {
 public:
  std::string make_help(const CLI::App* app, std::string name, CLI::AppFormatMode mode) const override {
    if (mode == CLI::AppFormatMode::Sub) return CLI::Formatter::make_help(app, name, mode);
    std::string help = make_description(app);
    if (!app->get_footer().empty()) help += app->get_footer() + "\n";
    help += make_usage(app, name) + make_positionals(app) + make_groups(app, mode) + make_subcommands(app, mode);
    return help;
  }
};

// Of the verb where one was understood.
std::string help_hint(const CLI::App& app) {
  const auto verbs = app.get_subcommands();
  return "See `rematch" + (verbs.empty() ? "" : " " + verbs.front()->get_name()) + " --help`.";
}

std::string version_text() {
  std::string text = "rematch " REMATCH_VERSION ", build " + probes::program_build_id().value_or("-") + "\nschemas:";
  for (const char* schema : {spec::kSweepSchema, base::kStudySchema, protocol::kTrialSchema, protocol::kLaunchSchema, protocol::kRankSchema,
                             protocol::kDescribeSchema})
    text += std::string(" ") + schema;
  return text;
}

class CommandLine {
 public:
  CommandLine() : app_("Settle by experiment which activation-recompute setting pays when training large models.\n", "rematch") {
    app_.formatter(std::make_shared<ExamplesFirst>());
    app_.footer(
        "Examples:\n"
        "  rematch plan sweeps/first.yaml\n"
        "  rematch run sweeps/first.yaml\n"
        "  rematch status");
    app_.require_subcommand(1);
    app_.set_version_flag("-V,--version", version_text(), "Print the build and the schemas' versions");
    app_.add_option("--workspace", options_.workspace, "Folder of studies and database")->capture_default_str();
    app_.add_option("--trainer", options_.trainer, "The trainer; else REMATCH_TRAINER, rematch-train beside rematch, or on PATH");
    app_.add_flag("-v,--verbose", num_verbose_, "Say more: of a run, how each rank of a trial ended");
    app_.add_flag("-q,--quiet", num_quiet_, "Say less: no progress");
    app_.add_option("--color", options_.color, "Colours on stderr")
        ->check(CLI::IsMember({"auto", "always", "never"}))
        ->capture_default_str();
    for (Verb* verb : all_verbs()) add(*verb);
  }

  Exit run(int argc, const char* const* argv, Streams streams) {
    try {
      app_.parse(argc, argv);
    } catch (const CLI::ParseError& error) {
      if (error.get_exit_code() == 0) return app_.exit(error, streams.out, streams.err) == 0 ? Exit::kOk : Exit::kUsage;
      const std::vector<std::string> words(argv + 1, argv + argc);
      const auto unknown = unknown_word_message(program_page(app_), words);
      streams.err << "rematch: " << unknown.value_or(error.what()) << "\n" << help_hint(app_) << "\n";
      return Exit::kUsage;
    }
    options_.verbosity = num_verbose_ - num_quiet_;
    return chosen_->run(options_, streams);
  }

  std::optional<std::string> problem_of(std::vector<std::string> words) {
    std::reverse(words.begin(), words.end());  // as CLI11 takes them
    try {
      app_.parse(words);
    } catch (const CLI::ParseError& error) {
      if (error.get_exit_code() != 0) return error.what();
    }
    return std::nullopt;
  }

  ProgramPage pages() const { return program_page(app_); }

 private:
  void add(Verb& verb) {
    CLI::App* command = app_.add_subcommand(verb.name(), verb.summary());
    command->fallthrough();  // global options may stand behind the verb as well
    verb.declare(*command);
    command->callback([this, &verb] { chosen_ = &verb; });
  }

  CLI::App app_;
  GlobalOptions options_;
  int num_verbose_ = 0;
  int num_quiet_ = 0;
  Verb* chosen_ = nullptr;
};

}  // namespace

std::optional<std::string> usage_problem(const std::vector<std::string>& words) { return CommandLine().problem_of(words); }

ProgramPage command_pages() { return CommandLine().pages(); }

Exit run_command_line(int argc, const char* const* argv, Streams streams) { return CommandLine().run(argc, argv, streams); }

}  // namespace rematch::cli
