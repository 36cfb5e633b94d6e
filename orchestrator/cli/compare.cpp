// `rematch compare ARM|TRIAL ARM|TRIAL`: one run of each set against the other, or the fields for which that is refused.
#include <CLI/CLI.hpp>
#include <algorithm>
#include <ostream>

#include "orchestrator/cli/report_output.h"
#include "orchestrator/cli/subject_input.h"
#include "orchestrator/cli/verb.h"
#include "orchestrator/report/comparison_report.h"
#include "orchestrator/rules/judge.h"
#include "orchestrator/rules/judge_runs.h"

namespace rematch::cli {

namespace {

// A subject with its verdict, and the run that stands for it.
struct Side {
  Subject subject;
  base::StudyVerdict verdict;
  std::size_t index = 0;  // of its attempts

  const std::string& variation() const { return base::find_arm(subject.study.plan, subject.arm)->variation; }
  // Of both; empty where they do not share it.
  std::string variation_with(const Side& other) const { return variation() == other.variation() ? variation() : ""; }

  report::ComparedSide view() const {
    return {subject.trial_id.empty() ? subject.arm : subject.trial_id, &subject.study.attempts[index], &verdict.runs[index]};
  }
};

class CompareVerb final : public Verb {
 public:
  std::string name() const override { return "compare"; }
  std::string summary() const override { return "Set two arms or trials against each other, if their settings differ in recompute alone"; }

  void declare(CLI::App& app) override {
    app.add_option("subject", subject_, "An arm by name, or a trial by id or the beginning of it")->required();
    app.add_option("against", against_, "The same, of what it is set against")->required();
    app.add_option("--study", study_, "Study of both, or of the first; not needed where one study has them");
    app.add_option("--against-study", against_study_, "Study of the second, where it is another");
    app.add_flag("--force", force_, "Compare them all the same, marked as unmatched");
    declare_report_output(app, output_);
    app.footer(
        "Examples:\n"
        "  rematch compare moe_act '[]'\n"
        "  rematch compare moe_act moe_act --study first --against-study second\n"
        "  rematch compare 3f9a12 77c0de --force\n"
        "Exit: 0 printed, 2 no such arm or trial, or none of its runs has ended, 7 refused, with the fields that differ beside recompute,\n"
        "8 no database, or a file that cannot be written.");
  }

  Exit run(const GlobalOptions& options, Streams streams) override {
    auto side = load_side(subject_, study_, options, streams);
    if (const Exit* exit = std::get_if<Exit>(&side)) return *exit;
    auto against = load_side(against_, against_study_.empty() ? study_ : against_study_, options, streams);
    if (const Exit* exit = std::get_if<Exit>(&against)) return *exit;
    const report::ComparedSide own = std::get<Side>(side).view();
    const report::ComparedSide other = std::get<Side>(against).view();
    const auto differences =
        rules::field_differences(*own.attempt, *other.attempt, std::get<Side>(side).variation_with(std::get<Side>(against)));
    const auto policy = force_ ? report::FieldsThatDiffer::kForce : report::FieldsThatDiffer::kRefuse;
    const Exit written = write_report(report::make_comparison_report(own, other, differences, policy), output_, streams);
    if (written != Exit::kOk || differences.empty() || force_) return written;
    streams.err << "rematch: refused: " << own.name << " and " << other.name << " differ beside recompute in "
                << rules::fields_text(differences) << "; --force compares them all the same\n";
    return Exit::kComparisonRefused;
  }

 private:
  static std::variant<Side, Exit> load_side(const std::string& key, const std::string& study, const GlobalOptions& options,
                                            Streams streams) {
    auto loaded = load_subject(key, study, options, streams);
    if (const Exit* exit = std::get_if<Exit>(&loaded)) return *exit;
    Side side{std::get<Subject>(std::move(loaded)), {}, 0};
    side.verdict = rules::judge_study(side.subject.study);
    std::vector<std::size_t> runs = rules::judged_attempts(side.subject.study, side.subject.arm);
    std::erase_if(runs, [&](std::size_t i) {
      return !side.subject.trial_id.empty() && side.subject.study.attempts[i].trial.trial_id != side.subject.trial_id;
    });
    if (runs.empty()) {
      streams.err << "rematch: no run of " << key << " has come to an end yet: `rematch run` starts it\n";
      return Exit::kUsage;
    }
    const auto passed = std::find_if(runs.begin(), runs.end(), [&](std::size_t i) { return side.verdict.runs[i].figures.has_value(); });
    side.index = passed == runs.end() ? runs.front() : *passed;
    return side;
  }

  std::string subject_;
  std::string against_;
  std::string study_;
  std::string against_study_;
  bool force_ = false;
  ReportOutput output_;
};

const VerbRegistrar<CompareVerb> registrar;

}  // namespace

}  // namespace rematch::cli
