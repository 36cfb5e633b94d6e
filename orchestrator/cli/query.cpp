// `rematch query QUESTION` or `--sql SELECT`: rows of the database, over a connection that cannot write.
#include <CLI/CLI.hpp>
#include <cstdint>
#include <filesystem>
#include <optional>
#include <ostream>
#include <string>
#include <vector>

#include "orchestrator/cli/database_option.h"
#include "orchestrator/cli/judged_before.h"
#include "orchestrator/cli/output_file.h"
#include "orchestrator/cli/query_filter.h"
#include "orchestrator/cli/query_output.h"
#include "orchestrator/cli/since.h"
#include "orchestrator/cli/uncollected.h"
#include "orchestrator/cli/verb.h"
#include "orchestrator/cli/warn.h"
#include "orchestrator/store/query.h"
#include "probes/host/clock.h"
#include "schemas/protocol/trial_paths.h"

namespace rematch::cli {

namespace {

class QueryVerb final : public Verb {
 public:
  std::string name() const override { return "query"; }
  std::string summary() const override { return "Ask the database: a canned question, or SQL that only reads"; }

  void declare(CLI::App& app) override {
    CLI::Option* question = app.add_option("question", question_, "What to ask for")->check(CLI::IsMember(store::question_names()));
    CLI::Option* sql =
        app.add_option("--sql", sql_, "One statement that reads; `--schema` shows what there is to read")->excludes(question);
    CLI::Option* schema = app.add_flag("--schema", schema_, "Print the views and tables as SQL")->excludes(question)->excludes(sql);
    for (CLI::Option* filter :
         {app.add_option("--study", filter_.study, "Name or id of the study, or the beginning of either"),
          app.add_option("--arm", filter_.arm, "Of this arm; '[]' is the control"),
          app.add_option("--outcome", filter_.outcome, "Of runs with this outcome; for arms and studies their own"),
          app.add_option("--rank", filter_.rank, "Of this rank"), app.add_option("--phase", filter_.phase, "Of this phase"),
          app.add_option("--since", since_, "Of attempts that began since this time in UTC, or so long ago: 2026-11-01T10:30, 6h, 2d")})
      filter->excludes(sql)->excludes(schema);
    app.add_option("--db", databases_, "A database, or a workspace, instead of --workspace's; several are read as one")
        ->expected(1)
        ->multi_option_policy(CLI::MultiOptionPolicy::TakeAll);
    app.add_option("--limit", most_rows_, "Rows at most; 0 is no limit")
        ->check(CLI::NonNegativeNumber)
        ->excludes(schema)
        ->capture_default_str();
    CLI::Option* format = app.add_option("-f,--format", format_, "Of the rows")
                              ->check(CLI::IsMember(answer_formats()))
                              ->excludes(schema)
                              ->capture_default_str();
    app.add_flag("--json", as_json_, "The same as --format json")->excludes(format)->excludes(schema);
    app.add_option("-o,--output", file_, "File to write; - is stdout")->capture_default_str();
    app.footer(
        "Examples:\n"
        "  rematch query failures\n"
        "  rematch query peaks --study first --arm moe_act --phase backward -f csv\n"
        "  rematch query --sql 'SELECT arm, max(peak_allocated_bytes) FROM peaks GROUP BY arm' -f jsonl\n"
        "  rematch query runs --outcome fail --since 2d\n"
        "  rematch query arms --db monday/rematch.db --db tuesday/rematch.db -o arms.csv -f csv\n"
        "  rematch query --schema\n"
        "Rows come by study, then in the order in which the trials ran. Bytes are bytes, times nanoseconds. With --db there is a leading "
        "column\n"
        "`database`, and rows come database by database; SQL reads up to 10 of them at once.\n"
        "Exit: 0 printed, also when there are no rows, 2 no such question or filter, or SQL that SQLite refuses, 8 no database, or one "
        "that is held,\n"
        "damaged or of another version, or a file that cannot be written.");
  }

  Exit run(const GlobalOptions& options, Streams streams) override {
    const base::Result<std::vector<store::NamedDatabase>> found = find_databases(options);
    if (!found) return complain(found.error().message, Exit::kEnvironment, streams);
    const std::vector<store::NamedDatabase>& databases = found.value();
    if (schema_ && databases.size() > 1) return complain("--schema is of one database, found several --db", Exit::kUsage, streams);
    if (schema_) return print(store::schema_text(databases.front().path), Exit::kEnvironment, streams);
    if (question_.empty() && sql_.empty())
      return complain("wanted a question, --sql or --schema; see `rematch query --help`", Exit::kUsage, streams);
    const base::Result<store::Question> question = make_question();
    if (!question) return complain(question.error().message, Exit::kUsage, streams);
    if (databases_.empty()) tell_of_uncollected(options.workspace, "", streams.err);
    return print_rows(databases, question.value(), streams);
  }

 private:
  static Exit complain(const std::string& message, Exit exit, Streams streams) {
    streams.err << "rematch: " << message << "\n";
    return exit;
  }

  base::Result<std::vector<store::NamedDatabase>> find_databases(const GlobalOptions& options) const {
    const std::filesystem::path own = protocol::WorkspacePaths{options.workspace}.database();
    if (databases_.empty() && !std::filesystem::exists(own))
      return base::Error{"there is no database " + own.string() + "; `rematch ingest` rebuilds one, --workspace names another place"};
    if (databases_.empty()) return std::vector<store::NamedDatabase>{{"", own}};
    std::vector<std::filesystem::path> paths;
    for (const std::string& each : databases_) {
      const base::Result<std::filesystem::path> path = find_database(each);
      if (!path) return path.error();
      paths.push_back(path.value());
    }
    return store::name_databases(paths);
  }

  base::Result<store::Question> make_question() const {
    if (!sql_.empty()) return store::Question{sql_, {}};
    store::QuestionFilter filter = filter_;
    if (!since_.empty()) {
      const base::Result<std::int64_t> since = parse_since(since_, probes::unix_ns());
      if (!since) return since.error();
      filter.since_unix_ns = since.value();
    }
    const base::Result<store::Question> question = store::canned_question(question_, filter);
    const std::optional<std::string> problem = problem_of_filter(question_, filter);
    return question && problem ? base::Error{*problem} : question;
  }

  Exit print(const base::Result<std::string>& text, Exit otherwise, Streams streams) const {
    if (!text) return complain(text.error().message, otherwise, streams);
    return write_output(text.value(), file_, streams);
  }

  Exit print_rows(const std::vector<store::NamedDatabase>& databases, const store::Question& question, Streams streams) const {
    const std::int64_t most = most_rows_ == 0 ? INT64_MAX : most_rows_;
    const store::Asked answer = databases_.empty() ? store::ask(databases.front().path, question, most)
                                : sql_.empty()     ? store::ask_each(databases, question, most)
                                                   : store::ask_all(databases, question, most);
    // Of a canned question's SQL nothing is at fault but the database.
    const bool is_usage = !sql_.empty() && !answer && answer.why() == store::NoAnswer::kRefused;
    if (!answer) return complain(answer.error().message, is_usage ? Exit::kUsage : Exit::kEnvironment, streams);
    for (const store::NamedDatabase& database : databases) tell_of_judged_before(database.path, "", streams.err);
    const Exit written = print(answer_text(answer.value(), as_json_ ? "json" : format_), Exit::kUsage, streams);
    if (answer.value().cut)
      warn(streams.err,
           {base::WarningId::kRowsCut, "these are the first " + std::to_string(most_rows_) + " rows; --limit 0 prints all of them"});
    return written;
  }

  std::string question_;
  std::string sql_;
  bool schema_ = false;
  store::QuestionFilter filter_;
  std::string since_;
  std::vector<std::string> databases_;
  std::int64_t most_rows_ = 1000;
  std::string format_ = "table";
  bool as_json_ = false;
  std::string file_ = "-";
};

const VerbRegistrar<QueryVerb> registrar;

}  // namespace

}  // namespace rematch::cli
