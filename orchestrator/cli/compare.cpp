// `rematch compare A B`: two arms, trials or studies set against each other, or the fields for which that is refused.
#include <CLI/CLI.hpp>
#include <algorithm>
#include <map>
#include <ostream>
#include <set>

#include "orchestrator/cli/comparison_input.h"
#include "orchestrator/cli/database_option.h"
#include "orchestrator/cli/gate_option.h"
#include "orchestrator/cli/judged_before.h"
#include "orchestrator/cli/report_output.h"
#include "orchestrator/cli/study_input.h"
#include "orchestrator/cli/uncollected.h"
#include "orchestrator/cli/verb.h"
#include "orchestrator/report/comparison_report.h"
#include "orchestrator/rules/match.h"
#include "orchestrator/rules/match_fields.h"
#include "schemas/protocol/trial_paths.h"

namespace rematch::cli {

namespace {

// One side as it was asked for, and what was found.
struct Asked {
  std::string key;
  std::string study;
  std::string database;  // empty: the workspace's
};

struct Loaded {
  ComparedSubject subject;
  ComparedSides sides;
};

using Pairs = std::vector<std::pair<const rules::ComparedSide*, const rules::ComparedSide*>>;

const rules::ComparedSide* find_side(const std::vector<rules::ComparedSide>& sides, const rules::ComparedSide& like) {
  const auto found = std::find_if(sides.begin(), sides.end(), [&](const rules::ComparedSide& each) {
    return each.arm == like.arm && each.variation == like.variation;
  });
  return found == sides.end() ? nullptr : &*found;
}

using SideRefs = std::vector<const rules::ComparedSide*>;
SideRefs sides_without(const std::vector<rules::ComparedSide>& sides, const std::vector<rules::ComparedSide>& others) {
  SideRefs found;
  for (const rules::ComparedSide& side : sides)
    if (find_side(others, side) == nullptr) found.push_back(&side);
  return found;
}

std::vector<std::string> arms_of(const SideRefs& sides) {
  std::vector<std::string> arms;
  for (const rules::ComparedSide* side : sides) arms.push_back(side->arm);
  return arms;
}

std::set<std::string> field_names(const Pairs& pairs) {
  std::set<std::string> names;
  for (const auto& [own, against] : pairs)
    for (const rules::ComparedSide* side : {own, against}) {
      if (side->record == nullptr) continue;
      const rules::RecordedFields fields = rules::recorded_fields(*side->record);
      for (const auto& [name, value] : fields.of_attempt) names.insert(name);
      for (const auto& [rank, of_rank] : fields.of_rank)
        for (const auto& [name, value] : of_rank) names.insert(name);
    }
  return names;
}

std::string study_text(const ComparedSubject& subject, const std::string& database) {
  return subject.study + " (" + subject.study_id + (database.empty() ? "" : ", " + database) + ")";
}

class CompareVerb final : public Verb {
 public:
  std::string name() const override { return "compare"; }
  std::string summary() const override { return "Set two arms, trials or studies against each other, if their settings match"; }

  void declare(CLI::App& app) override {
    app.add_option("subject", own_.key,
                   "An arm by its whole name, a study by name or id, a trial by id, or the beginning of a study's name or of an id")
        ->required();
    app.add_option("against", against_.key, "The same, of what it is set against; not needed with --against-study or --against-db");
    app.add_option("--study", own_.study, "Study of both arms or trials, or of the first");
    app.add_option("--against-study", against_.study, "Study of the second, where it is another");
    app.add_option("--db", own_.database, "Database, or workspace, of both, or of the first, instead of --workspace's");
    app.add_option("--against-db", against_.database, "Database, or workspace, of the second, where it is another");
    app.add_option("--vary", varied_, "Recorded fields that are meant to differ, or the beginnings of their names up to a dot")
        ->delimiter(',');
    app.add_flag("--force", force_, "Compare them all the same, marked as unmatched");
    gates_.declare(app, rules::GateUse::kComparison);
    declare_report_output(app, output_);
    app.footer(
        "Examples:\n"
        "  rematch compare moe_act '[]'\n"
        "  rematch compare moe_act moe_act --study first --against-study second\n"
        "  rematch compare 3f9a12 77c0de --force\n"
        "  rematch compare nightly baseline --vary trainer_build_id,hello.build_id --fail-on 'regression>2%' --fail-on outcome\n"
        "  rematch compare nightly --against-db ../baseline/rematch.db --fail-on 'step_time>3%'\n"
        "Of studies the arms that both have are compared, each against the arm of its name. Times have a 95 % interval where each side has "
        "two\n"
        "runs or more. A gate of --fail-on fires on time when the whole interval is beyond its bound, and also when nothing could be "
        "judged "
        "by it,\n"
        "or where an arm has no figure any more that the second study has of it.\n"
        "Exit: 0 printed, 2 no such arm, trial or study, or none of its runs has ended, 7 refused, with the fields that differ beside "
        "recompute,\n"
        "8 no database, or a file that cannot be written, 9 a gate fired.");
  }

  Exit run(const GlobalOptions& options, Streams streams) override {
    const auto gates = gates_.load(streams);
    if (const Exit* exit = std::get_if<Exit>(&gates)) return *exit;
    Asked against = against_;
    if (against.key.empty() && against.database.empty() && against.study.empty())
      return complain("wanted what " + own_.key + " is set against; see `rematch compare --help`", streams);
    if (against.key.empty()) against.key = own_.key;
    if (against.database.empty()) {
      against.database = own_.database;
      if (against.study.empty()) against.study = own_.study;
    }
    auto own_loaded = load(own_, options, streams);
    if (const Exit* exit = std::get_if<Exit>(&own_loaded)) return *exit;
    auto against_loaded = load(against, options, streams);
    if (const Exit* exit = std::get_if<Exit>(&against_loaded)) return *exit;
    const auto& own = std::get<Loaded>(own_loaded);
    const auto& other = std::get<Loaded>(against_loaded);
    tell_of_stale(own_, own.subject, options, streams);
    if (against.database != own_.database || other.subject.study_id != own.subject.study_id)
      tell_of_stale(against, other.subject, options, streams);
    if ((own.subject.kind == ComparedKind::kStudy) != (other.subject.kind == ComparedKind::kStudy))
      return complain("a study is set against a study; found one study, and an arm or a trial; with --study a name is an arm's", streams);
    const Pairs pairs = make_pairs(own, other);
    if (const std::string problem = problem_of(pairs, own, other); !problem.empty()) return complain(problem, streams);
    const std::vector<rules::SideComparison> comparisons = compare(pairs, other.sides.plan.smallest_effect);
    const Exit written = write_report(make_model(comparisons, own, other), output_, streams);
    if (written != Exit::kOk) return written;
    if (refuse(comparisons, streams)) return Exit::kComparisonRefused;
    return exit_of_gates(rules::judge_gates(std::get<std::vector<rules::Gate>>(gates), with_missing(comparisons, own, other)), written,
                         streams);
  }

 private:
  static Exit complain(const std::string& message, Streams streams, Exit exit = Exit::kUsage) {
    streams.err << "rematch: " << message << "\n";
    return exit;
  }

  static std::variant<store::Store, Exit> open(const Asked& asked, const GlobalOptions& options, Streams streams) {
    if (asked.database.empty()) return open_store(options, streams);
    const base::Result<std::filesystem::path> path = find_database(asked.database);
    if (!path) return complain(path.error().message, streams, Exit::kEnvironment);
    base::Result<store::Store> store = store::Store::open_to_read(path.value());
    if (!store) return complain(store.error().message, streams, Exit::kEnvironment);
    return std::move(store).value();
  }

  static void tell_of_stale(const Asked& asked, const ComparedSubject& subject, const GlobalOptions& options, Streams streams) {
    const bool is_own = asked.database.empty();
    if (is_own) tell_of_uncollected(options.workspace, subject.study_id, streams.err);
    const auto database = is_own ? protocol::WorkspacePaths{options.workspace}.database() : find_database(asked.database).value();
    tell_of_judged_before(database, subject.study_id, streams.err);
  }

  static std::variant<Loaded, Exit> load(const Asked& asked, const GlobalOptions& options, Streams streams) {
    const auto opened = open(asked, options, streams);
    if (const Exit* exit = std::get_if<Exit>(&opened)) return *exit;
    const auto& store = std::get<store::Store>(opened);
    const base::Result<ComparedSubject> subject = find_compared(store, asked.key, asked.study);
    if (!subject) return complain(subject.error().message, streams);
    return Loaded{subject.value(), load_sides(store, subject.value())};
  }

  static Pairs make_pairs(const Loaded& own, const Loaded& other) {
    if (own.subject.kind != ComparedKind::kStudy) return {{&own.sides.sides.front(), &other.sides.sides.front()}};
    Pairs pairs;
    for (const rules::ComparedSide& side : own.sides.sides)
      if (const rules::ComparedSide* same = find_side(other.sides.sides, side)) pairs.emplace_back(&side, same);
    return pairs;
  }

  // Empty: they can be compared.
  std::string problem_of(const Pairs& pairs, const Loaded& own, const Loaded& other) const {
    if (own.subject.kind != ComparedKind::kStudy) {
      for (const rules::ComparedSide* side : {pairs.front().first, pairs.front().second})
        if (side->record == nullptr) return "no run of " + side->name + " has come to an end yet: `rematch run` starts it";
    } else if (pairs.empty()) {
      return "the studies " + own.subject.study + " and " + other.subject.study + " have no arm in common";
    } else if (std::none_of(pairs.begin(), pairs.end(),
                            [](const auto& pair) { return pair.first->record != nullptr && pair.second->record != nullptr; })) {
      return "no arm has a run in both studies that has come to an end: `rematch run` starts them";
    }
    const std::set<std::string> names = field_names(pairs);
    for (const std::string& field : varied_)
      if (std::none_of(names.begin(), names.end(), [&](const std::string& name) { return rules::is_covered(name, field); }))
        return "--vary " + field + ": no recorded field has that name; without --vary the refusal lists the fields that differ";
    return "";
  }

  std::vector<rules::SideComparison> compare(const Pairs& pairs, double smallest_effect) const {
    const rules::ComparisonTerms terms{varied_, force_ ? rules::Matching::kForced : rules::Matching::kWanted, smallest_effect,
                                       static_cast<std::int64_t>(pairs.size())};
    std::vector<rules::SideComparison> comparisons;
    for (const auto& [own, against] : pairs) comparisons.push_back(rules::compare_sides(*own, *against, terms));
    return comparisons;
  }

  // What gates look at: an arm that the second study alone has is one that has lost its outcome and its figures.
  static std::vector<rules::SideComparison> with_missing(std::vector<rules::SideComparison> comparisons, const Loaded& own,
                                                         const Loaded& other) {
    if (own.subject.kind != ComparedKind::kStudy) return comparisons;
    for (const rules::ComparedSide* side : sides_without(other.sides.sides, own.sides.sides)) {
      rules::ComparedSide missing{.name = side->name, .arm = side->arm, .variation = side->variation};
      missing.reason = own.subject.study + " has no such arm";
      comparisons.push_back(rules::compare_sides(missing, *side, {}));
    }
    return comparisons;
  }

  report::ReportModel make_model(const std::vector<rules::SideComparison>& comparisons, const Loaded& own, const Loaded& other) const {
    if (own.subject.kind != ComparedKind::kStudy) return report::make_comparison_report(comparisons.front());
    return report::make_studies_report({study_text(own.subject, own_.database),
                                        study_text(other.subject, against_.database.empty() ? own_.database : against_.database),
                                        comparisons, arms_of(sides_without(own.sides.sides, other.sides.sides)),
                                        arms_of(sides_without(other.sides.sides, own.sides.sides))});
  }

  static bool refuse(const std::vector<rules::SideComparison>& comparisons, Streams streams) {
    std::map<std::string, std::vector<std::string>> arms;  // by refusal
    for (const rules::SideComparison& pair : comparisons)
      if (!pair.is_compared()) arms[pair.refusal].push_back(pair.name + " and " + pair.against_name);
    for (const auto& [refusal, names] : arms) {
      std::string text;
      for (const std::string& each : names) text += (text.empty() ? "" : "; ") + each;
      streams.err << "rematch: refused: " << text << ": " << refusal
                  << (refusal.starts_with("figures of two") ? ""
                                                            : "; --force compares them all the same, --vary names fields that may differ")
                  << "\n";
    }
    return !arms.empty();
  }

  Asked own_;
  Asked against_;
  std::vector<std::string> varied_;
  bool force_ = false;
  GateOption gates_;
  ReportOutput output_;
};

const VerbRegistrar<CompareVerb> registrar;

}  // namespace

}  // namespace rematch::cli
