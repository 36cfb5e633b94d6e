// `rematch query QUESTION` or `--sql SELECT`: rows of the database, over a connection that cannot write.
#include <CLI/CLI.hpp>
#include <cstdint>
#include <ostream>

#include "orchestrator/cli/query_output.h"
#include "orchestrator/cli/uncollected.h"
#include "orchestrator/cli/verb.h"
#include "orchestrator/cli/warn.h"
#include "orchestrator/store/query.h"
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
          app.add_option("--rank", filter_.rank, "Of this rank"), app.add_option("--phase", filter_.phase, "Of this phase")})
      filter->excludes(sql)->excludes(schema);
    app.add_option("--limit", most_rows_, "Rows at most; 0 is no limit")->check(CLI::NonNegativeNumber)->capture_default_str();
    app.add_option("-f,--format", format_, "Of the rows")->check(CLI::IsMember(answer_formats()))->capture_default_str();
    app.footer(
        "Examples:\n"
        "  rematch query failures\n"
        "  rematch query peaks --study first --arm moe_act --phase backward -f csv\n"
        "  rematch query --sql 'SELECT arm, max(peak_allocated_bytes) FROM peaks GROUP BY arm' -f jsonl\n"
        "  rematch query --schema\n"
        "Rows come by study, then in the order in which the trials ran. Bytes are bytes, times nanoseconds.\n"
        "Exit: 0 printed, also when there are no rows, 2 no such question or filter, or SQL that SQLite refuses, 8 no database.");
  }

  Exit run(const GlobalOptions& options, Streams streams) override {
    const std::filesystem::path database = protocol::WorkspacePaths{options.workspace}.database();
    if (!std::filesystem::exists(database))
      return complain("there is no database " + database.string() + "; `rematch ingest` rebuilds one, --workspace names another place",
                      Exit::kEnvironment, streams);
    if (schema_) return print_schema(database, streams);
    if (question_.empty() && sql_.empty())
      return complain("wanted a question, --sql or --schema; see `rematch query --help`", Exit::kUsage, streams);
    base::Result<store::Question> question = store::Question{sql_, {}};
    if (sql_.empty()) question = store::canned_question(question_, filter_);
    if (!question) return complain(question.error().message, Exit::kUsage, streams);
    tell_of_uncollected(options.workspace, "", streams.err);
    return print_rows(database, question.value(), streams);
  }

 private:
  static Exit complain(const std::string& message, Exit exit, Streams streams) {
    streams.err << "rematch: " << message << "\n";
    return exit;
  }

  static Exit print_schema(const std::filesystem::path& database, Streams streams) {
    const base::Result<std::string> schema = store::schema_text(database);
    if (!schema) return complain(schema.error().message, Exit::kEnvironment, streams);
    streams.out << schema.value();
    return Exit::kOk;
  }

  Exit print_rows(const std::filesystem::path& database, const store::Question& question, Streams streams) const {
    const base::Result<store::Answer> answer = store::ask(database, question, most_rows_ == 0 ? INT64_MAX : most_rows_);
    if (!answer) return complain(answer.error().message, Exit::kUsage, streams);
    streams.out << answer_text(answer.value(), format_);
    if (answer.value().cut)
      warn(streams.err,
           {base::WarningId::kRowsCut, "these are the first " + std::to_string(most_rows_) + " rows; --limit 0 prints all of them"});
    return Exit::kOk;
  }

  std::string question_;
  std::string sql_;
  bool schema_ = false;
  store::QuestionFilter filter_;
  std::int64_t most_rows_ = 1000;
  std::string format_ = "table";
};

const VerbRegistrar<QueryVerb> registrar;

}  // namespace

}  // namespace rematch::cli
