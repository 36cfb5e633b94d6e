// `rematch logs [STUDY|ARM|TRIAL]`: what the ranks of an attempt, or the jobs of a study, have printed, as far as it is of interest.
#include <CLI/CLI.hpp>
#include <algorithm>
#include <ostream>

#include "orchestrator/cli/log_sources.h"
#include "orchestrator/cli/log_subject.h"
#include "orchestrator/cli/study_folders.h"
#include "orchestrator/cli/until_interrupted.h"
#include "orchestrator/cli/verb.h"
#include "schemas/protocol/document_error.h"
#include "schemas/protocol/prediction.h"
#include "schemas/protocol/trial_paths.h"

namespace rematch::cli {

namespace {

constexpr std::chrono::milliseconds kLook{250};  // sizes of files; nothing else works on every network file system

// Prints lines of several logs one after another, each under its title when it is not the one before.
class LogPrinter {
 public:
  LogPrinter(std::vector<LogSource> sources, std::ostream& out) : sources_(std::move(sources)), out_(out) {}

  void print_ends(std::int64_t num_lines) {
    for (LogSource& source : sources_)
      if (source.file.exists() || sources_.size() == 1) print(source, source.file.last_lines(num_lines), Title::kAlways);
    out_.flush();
  }
  void print_more() {
    for (LogSource& source : sources_)
      for (std::string text = source.file.more_lines(); !text.empty(); text = source.file.more_lines())
        print(source, text, Title::kOnChange);
    out_.flush();
  }
  void print_rest() {
    print_more();
    for (LogSource& source : sources_)
      if (const std::string text = source.file.rest(); !text.empty()) print(source, text, Title::kOnChange);
    out_.flush();
  }
  bool has_any() const {
    return std::any_of(sources_.begin(), sources_.end(), [](const LogSource& source) { return source.file.exists(); });
  }

 private:
  enum class Title { kAlways, kOnChange };
  void print(const LogSource& source, const std::string& text, Title title) {
    if (title == Title::kAlways || last_ != &source) out_ << (last_ == nullptr ? "" : "\n") << "==> " << source.title << " <==\n";
    last_ = &source;
    out_ << printable(text) << (text.empty() || text.ends_with('\n') ? "" : "\n");
  }

  std::vector<LogSource> sources_;
  std::ostream& out_;
  const LogSource* last_ = nullptr;
};

class LogsVerb final : public Verb {
 public:
  std::string name() const override { return "logs"; }
  std::string summary() const override { return "Show what the ranks of a trial, or the jobs of a study, have printed"; }

  void declare(CLI::App& app) override {
    app.add_option("subject", subject_,
                   "A study by name or id, an arm by name, or a trial by id, or the beginning of an id; else what was started last");
    app.add_option("--study", study_, "Study of the arm or trial");
    auto* rank = app.add_option("--rank", rank_, "Of this rank alone")->check(CLI::NonNegativeNumber);
    app.add_flag("--job", of_jobs_, "What the study's Slurm jobs have printed, instead of its ranks")->excludes(rank);
    app.add_flag("-f,--follow", follows_, "Go on until the attempt has ended, or `run` has found every job ended; Ctrl-C ends it");
    app.add_option("-n,--lines", num_lines_, "Lines of each log")->check(CLI::NonNegativeNumber)->capture_default_str();
    app.footer(
        "Examples:\n"
        "  rematch logs\n"
        "  rematch logs moe_act --rank 1 -n 100\n"
        "  rematch logs -f first\n"
        "  rematch logs --job\n"
        "The rank that failed first comes first. Of an arm or a study, the attempt that was started last.\n"
        "Exit: 0 printed, or nothing was started yet; 2 no such study, arm, trial or rank, or no job; 8 a file that cannot be read.");
  }

  Exit run(const GlobalOptions& options, Streams streams) override {
    const auto found = find_log_subject(subject_, study_, options.workspace, streams);
    if (const Exit* exit = std::get_if<Exit>(&found)) return *exit;
    const auto& subject = std::get<LogSubject>(found);
    try {
      return of_jobs_ ? show_jobs(subject, streams) : show_attempt(subject, streams);
    } catch (const protocol::DocumentError& problem) {
      streams.err << "rematch: " << problem.what() << "\n";
      return Exit::kEnvironment;
    }
  }

 private:
  Exit show_attempt(const LogSubject& subject, Streams streams) const {
    UntilInterrupted until;
    auto started = newest_attempt(subject.study, subject.trial_ids);
    if (!started) streams.err << "rematch: nothing of it was started yet\n";
    while (!started && follows_) {
      if (!until.wait(kLook)) return Exit::kOk;
      started = newest_attempt(subject.study, subject.trial_ids);
    }
    if (!started) return Exit::kOk;
    const std::filesystem::path& folder = started->attempt.folder;
    const protocol::Trial trial = protocol::read_trial(protocol::AttemptPaths{folder}.trial());
    const std::vector<LogSource> sources = rank_logs(folder, trial, rank_);
    if (sources.empty()) {
      streams.err << "rematch: no rank " << *rank_ << "; there are " << protocol::started_ranks(trial).size() << ", from 0\n";
      return Exit::kUsage;
    }
    streams.err << "study " << subject.study.filename().string() << ", arm " << trial.arm << ", block " << trial.block << ", slot "
                << trial.slot << ", trial " << trial.trial_id << ", attempt " << started->attempt.attempt << ": "
                << end_text(read_launch_if_there(folder)) << "\n";
    LogPrinter printer(sources, streams.out);
    printer.print_ends(num_lines_);
    if (follows_) follow(printer, until, streams, [&] { return attempt_end(subject.study, *started); });
    return Exit::kOk;
  }

  // How; nullopt: it has not ended.
  static std::optional<std::string> attempt_end(const std::filesystem::path& study, const StartedAttempt& started) {
    if (const auto launch = read_launch_if_there(started.attempt.folder)) return end_text(launch);
    if (engine::StudyFolder(study).attempts(started.trial_id).back().attempt == started.attempt.attempt) return std::nullopt;
    return "ended without a launch record: a later attempt was started";
  }
  static std::optional<std::string> jobs_end(const std::filesystem::path& study) {
    return all_jobs_are_closed(study) ? std::optional<std::string>("every job has ended") : std::nullopt;
  }

  Exit show_jobs(const LogSubject& subject, Streams streams) const {
    const std::vector<LogSource> sources = job_logs(subject.study);
    if (sources.empty()) {
      streams.err << "rematch: study " << subject.study.filename().string()
                  << " has submitted no job; without --job its ranks' logs are shown\n";
      return Exit::kUsage;
    }
    UntilInterrupted until;
    LogPrinter printer(sources, streams.out);
    if (!printer.has_any()) streams.err << "rematch: no job has begun yet\n";
    if (printer.has_any()) printer.print_ends(num_lines_);
    if (follows_) follow(printer, until, streams, [&subject] { return jobs_end(subject.study); });
    return Exit::kOk;
  }

  // What was written before the end was seen is printed too.
  template <typename HowEnded>
  static void follow(LogPrinter& printer, UntilInterrupted& until, Streams streams, const HowEnded& how_ended) {
    while (streams.out.good()) {
      if (const auto end = how_ended()) {
        printer.print_rest();
        streams.err << *end << "\n";
        return;
      }
      printer.print_more();
      if (!until.wait(kLook)) return;
    }
  }

  std::string subject_;
  std::string study_;
  std::optional<std::int64_t> rank_;
  bool of_jobs_ = false;
  bool follows_ = false;
  std::int64_t num_lines_ = 20;
};

const VerbRegistrar<LogsVerb> registrar;

}  // namespace

}  // namespace rematch::cli
