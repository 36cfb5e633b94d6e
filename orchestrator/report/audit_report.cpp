#include "orchestrator/report/audit_report.h"

#include <algorithm>

#include "orchestrator/report/cells.h"
#include "orchestrator/report/verdict_text.h"
#include "orchestrator/rules/printed_range.h"
#include "orchestrator/rules/published_match.h"
#include "schemas/protocol/outcome.h"

namespace rematch::report {

namespace {

using rules::AuditedDelta;
using rules::AuditedPair;
using rules::AuditedTime;
using rules::AuditedWork;
using rules::AuditFinding;
using rules::AuditSeverity;
using rules::PublishedAudit;

// Of the published table with this name.
template <typename Row>
struct Of {
  std::string table;
  Row row;
};

template <typename Row>
std::vector<ColumnOf<Of<Row>>> columns_of(const std::vector<PublishedAudit>& audits, const std::vector<ColumnOf<Row>>& own) {
  const Place place = audits.size() == 1 ? Place::kDataOnly : Place::kEverywhere;
  std::vector<ColumnOf<Of<Row>>> columns = {
      {{"published_table", "table", place}, [](const Of<Row>& of) { return text_cell(of.table); }},
      {{"provenance", "provenance", Place::kDataOnly}, [](const Of<Row>&) { return name_cell(protocol::Provenance::kPublished); }},
  };
  for (const ColumnOf<Row>& column : own)
    columns.push_back({column.column, [get = column.cell](const Of<Row>& of) { return get(of.row); }});
  return columns;
}

// `rows_of` takes an audit and gives its rows.
template <typename Row, typename RowsOf>
Table table_over(const std::vector<PublishedAudit>& audits, const char* key, const char* title, const std::vector<ColumnOf<Row>>& columns,
                 RowsOf rows_of) {
  std::vector<Of<Row>> rows;
  for (const PublishedAudit& audit : audits)
    for (const Row& row : rows_of(audit)) rows.push_back({audit.published.name, row});
  return table_of(key, title, columns_of(audits, columns), rows);
}

Cell rounded(const std::optional<double>& fraction) { return fraction ? Cell{FractionDelta{nine_digits(*fraction)}} : Cell{}; }
Cell share(const std::optional<double>& fraction) { return fraction ? Cell{Fraction{nine_digits(*fraction)}} : Cell{}; }
Cell tera(const std::optional<double>& flops) { return flops ? Cell{Teraflops{nine_digits(*flops / 1e12)}} : Cell{}; }

std::vector<ColumnOf<PublishedAudit>> source_columns() {
  const auto num_of = [](const PublishedAudit& audit, AuditSeverity severity) {
    return Cell{Count{std::count_if(audit.findings.begin(), audit.findings.end(),
                                    [severity](const AuditFinding& finding) { return finding.severity == severity; })}};
  };
  return {
      {{"source", "source"}, [](const PublishedAudit& a) { return text_cell(a.published.source.title); }},
      {{"section", "section"}, [](const PublishedAudit& a) { return text_cell(a.published.source.section); }},
      {{"date", "date"}, [](const PublishedAudit& a) { return text_cell(a.published.source.date.value_or("")); }},
      {{"bridge_revision", "Megatron Bridge"},
       [](const PublishedAudit& a) { return text_cell(a.published.source.bridge_revision.value_or("")); }},
      {{"core_revision", "Megatron Core"},
       [](const PublishedAudit& a) { return text_cell(a.published.source.core_revision.value_or("")); }},
      {{"hardware", "hardware"}, [](const PublishedAudit& a) { return text_cell(a.published.source.hardware); }},
      {{"model", "model"}, [](const PublishedAudit& a) { return text_cell(a.published.setting.model); }},
      {{"precision", "precision"}, [](const PublishedAudit& a) { return text_cell(a.published.setting.precision); }},
      {{"num_contradicted", "contradicted"}, [=](const PublishedAudit& a) { return num_of(a, AuditSeverity::kContradicted); }},
      {{"num_warnings", "warnings"}, [=](const PublishedAudit& a) { return num_of(a, AuditSeverity::kWarning); }},
      {{"counted_in", "work counted in"}, [](const PublishedAudit& a) { return text_cell(a.formula ? a.formula->study : ""); }},
  };
}

Cell as_printed(const std::optional<protocol::PublishedMean>& mean, const char* unit) {
  return mean ? text_cell(rules::printed_text(*mean, unit)) : Cell{};
}

std::vector<ColumnOf<protocol::PublishedRow>> row_columns() {
  using Row = protocol::PublishedRow;
  return {
      {{"modules", "modules"}, [](const Row& r) { return text_cell(rules::name_of(r)); }},
      {{"published_outcome", "outcome"}, [](const Row& r) { return name_cell(r.outcome.kind); }},
      {{"published_iterations", "iterations"}, [](const Row& r) { return cell_of<Count>(r.outcome.iterations_completed); }},
      {{"published_peak_text", "peak allocated", Place::kTextOnly},
       [](const Row& r) { return r.peak_allocated ? text_cell(rules::printed_text(r.peak_allocated->figure)) : Cell{}; }},
      {{"published_peak_bytes", "peak allocated", Place::kDataOnly},
       [](const Row& r) { return r.peak_allocated ? Cell{Bytes{r.peak_allocated->figure.bytes}} : Cell{}; }},
      {{"after_iteration", "after iteration"},
       [](const Row& r) { return r.peak_allocated ? cell_of<Count>(r.peak_allocated->after_iteration) : Cell{}; }},
      {{"ranks", "of"}, [](const Row& r) { return r.peak_allocated ? text_cell(r.peak_allocated->ranks.value_or("")) : Cell{}; }},
      {{"published_step_time_text", "step time", Place::kTextOnly}, [](const Row& r) { return as_printed(r.step_time_ms, "ms"); }},
      {{"published_step_time_ns", "step time", Place::kDataOnly},
       [](const Row& r) { return r.step_time_ms ? Cell{Nanoseconds{nine_digits(r.step_time_ms->value * 1e6)}} : Cell{}; }},
      {{"published_tflops_text", "TFLOP/s/GPU", Place::kTextOnly}, [](const Row& r) { return as_printed(r.tflops_per_gpu, ""); }},
      {{"published_tflops_per_gpu", "TFLOP/s/GPU", Place::kDataOnly},
       [](const Row& r) { return r.tflops_per_gpu ? Cell{Teraflops{r.tflops_per_gpu->value}} : Cell{}; }},
      {{"published_evidence", "evidence"}, [](const Row& r) { return text_cell(r.outcome.evidence); }},
  };
}

std::vector<ColumnOf<AuditedDelta>> delta_columns() {
  const auto bytes_bound = [](const AuditedDelta& delta, const std::optional<double>& bound) {
    return delta.published_bytes && bound ? Cell{Bytes{static_cast<std::int64_t>(*bound)}} : Cell{};
  };
  const auto fraction_bound = [](const AuditedDelta& delta, const std::optional<double>& bound) {
    return delta.published_fraction ? rounded(bound) : Cell{};
  };
  return {
      modules_column<AuditedDelta>(),
      {{"against", "against"}, [](const AuditedDelta& d) { return text_cell(d.against); }},
      {{"of", "difference of"}, [](const AuditedDelta& d) { return text_cell(d.of); }},
      {{"published_fraction", "published"}, [](const AuditedDelta& d) { return rounded(d.published_fraction); }},
      {{"published_bytes", "published"}, [](const AuditedDelta& d) { return cell_of<Bytes>(d.published_bytes); }},
      {{"recomputed_fraction", "recomputed"}, [](const AuditedDelta& d) { return rounded(d.recomputed_fraction); }},
      {{"recomputed_low_fraction", "from", Place::kDataOnly}, [=](const AuditedDelta& d) { return fraction_bound(d, d.low); }},
      {{"recomputed_high_fraction", "to", Place::kDataOnly}, [=](const AuditedDelta& d) { return fraction_bound(d, d.high); }},
      {{"recomputed_bytes", "recomputed"}, [](const AuditedDelta& d) { return cell_of<Bytes>(d.recomputed_bytes); }},
      {{"recomputed_low_bytes", "from", Place::kDataOnly}, [=](const AuditedDelta& d) { return bytes_bound(d, d.low); }},
      {{"recomputed_high_bytes", "to", Place::kDataOnly}, [=](const AuditedDelta& d) { return bytes_bound(d, d.high); }},
      {{"verdict", "verdict"}, [](const AuditedDelta& d) { return name_cell(d.verdict); }},
      {{"reason", "reason"}, [](const AuditedDelta& d) { return text_cell(d.reason); }},
  };
}

struct WorkRow {
  std::string arm;
  AuditedWork work;
  std::optional<double> counted_flops;
};

std::vector<WorkRow> work_rows(const PublishedAudit& audit) {
  std::vector<WorkRow> rows;
  for (const AuditedWork& work : audit.work) {
    rows.push_back({work.arm, work, std::nullopt});
    if (audit.formula) rows.back().counted_flops = audit.formula->flops_per_iteration;
  }
  return rows;
}

Cell spread_is(const WorkRow& row) {
  if (row.work.spread_high_fraction) return *row.work.spread_low_fraction > 0 ? "within bounds" : "at most";
  return row.work.spread_fraction ? Cell{"at least"} : Cell{};
}

// Work is in TFLOP, of all GPUs.
std::vector<ColumnOf<WorkRow>> work_columns() {
  return {
      modules_column<WorkRow>(),
      {{"work_teraflop", "throughput x time, TFLOP"}, [](const WorkRow& r) { return tera(r.work.work_flops); }},
      {{"work_low_teraflop", "from", Place::kDataOnly}, [](const WorkRow& r) { return tera(r.work.low_flops); }},
      {{"work_high_teraflop", "to", Place::kDataOnly}, [](const WorkRow& r) { return tera(r.work.high_flops); }},
      {{"counted_work_teraflop", "counted from shapes, TFLOP"}, [](const WorkRow& r) { return tera(r.counted_flops); }},
      {{"excess_fraction", "excess"}, [](const WorkRow& r) { return rounded(r.work.excess_fraction); }},
      {{"num_iterations", "iterations"}, [](const WorkRow& r) { return cell_of<Count>(r.work.num_iterations); }},
      {{"time_spread_fraction", "spread of steps"}, [](const WorkRow& r) { return share(r.work.spread_fraction); }},
      {{"time_spread_low_fraction", "from"}, [](const WorkRow& r) { return share(r.work.spread_low_fraction); }},
      {{"time_spread_high_fraction", "to"}, [](const WorkRow& r) { return share(r.work.spread_high_fraction); }},
      {{"standard_error_fraction", "standard error of the mean"}, [](const WorkRow& r) { return share(r.work.standard_error_fraction); }},
      {{"spread_is", "spread is"}, spread_is},
  };
}

std::vector<ColumnOf<AuditedTime>> time_columns() {
  return {
      modules_column<AuditedTime>(),
      {{"against", "against"}, [](const AuditedTime& t) { return text_cell(t.against); }},
      {{"time_fraction", "step time"}, [](const AuditedTime& t) { return rounded(t.fraction); }},
      {{"time_low_fraction", "from"}, [](const AuditedTime& t) { return rounded(t.low); }},
      {{"time_high_fraction", "to"}, [](const AuditedTime& t) { return rounded(t.high); }},
      {{"stands", "stands"}, [](const AuditedTime& t) { return name_cell(t.stands); }},
  };
}

std::vector<ColumnOf<AuditedPair>> pair_columns() {
  return {
      modules_column<AuditedPair>(),
      {{"against", "against"}, [](const AuditedPair& p) { return text_cell(p.against); }},
      {{"basis", "as"}, [](const AuditedPair& p) { return text_cell(rules::basis_text(p)); }},
      {{"peak_delta_bytes", "peak allocated"}, [](const AuditedPair& p) { return cell_of<BytesDelta>(p.peak_delta_bytes); }},
      {{"peak_fraction", "peak allocated"}, [](const AuditedPair& p) { return rounded(p.peak_fraction); }},
      {{"time_fraction", "step time"}, [](const AuditedPair& p) { return rounded(p.time_fraction); }},
      {{"tflops_fraction", "TFLOP/s/GPU"}, [](const AuditedPair& p) { return rounded(p.tflops_fraction); }},
      {{"not_comparable", "not comparable"}, [](const AuditedPair& p) { return text_cell(p.no_comparison); }},
  };
}

std::vector<ColumnOf<AuditFinding>> finding_columns() {
  return {
      {{"check", "check"}, [](const AuditFinding& f) { return text_cell(std::string(base::warning_page(rules::warning_of(f)).name)); }},
      {{"severity", "severity"}, [](const AuditFinding& f) { return name_cell(f.severity); }},
      {{"subject", "of"}, [](const AuditFinding& f) { return text_cell(f.subject); }},
      {{"published", "published"}, [](const AuditFinding& f) { return text_cell(f.published); }},
      {{"recomputed", "recomputed"}, [](const AuditFinding& f) { return text_cell(f.recomputed); }},
      {{"finding", "finding"}, [](const AuditFinding& f) { return text_cell(f.words); }},
  };
}

struct Sentence {
  std::string kind;
  std::string text;
};

std::vector<Sentence> sentences_of(const PublishedAudit& audit) {
  std::vector<Sentence> sentences;
  for (const std::string& text : audit.supports) sentences.push_back({"supports", text});
  for (const std::string& text : audit.leaves_open) sentences.push_back({"does not support", text});
  return sentences;
}

std::vector<ColumnOf<Sentence>> sentence_columns() {
  return {
      {{"kind", "the table"}, [](const Sentence& s) { return text_cell(s.kind); }},
      {{"sentence", "what"}, [](const Sentence& s) { return text_cell(s.text); }},
  };
}

std::string title_of(const std::vector<PublishedAudit>& audits) {
  if (audits.size() == 1) return "Audit of the published table " + audits.front().published.name;
  return "Audit of " + std::to_string(audits.size()) + " published tables";
}

std::vector<Fact> source_facts(const PublishedAudit& audit) {
  std::vector<Fact> facts;
  for (const ColumnOf<PublishedAudit>& column : source_columns())
    facts.push_back({column.column.key, column.column.title, column.cell(audit)});
  std::erase_if(facts, [](const Fact& fact) { return fact.key == "num_contradicted"; });
  return facts;
}

std::vector<Fact> header_of(const std::vector<PublishedAudit>& audits) {
  std::int64_t num_contradicted = 0, num_deltas = 0, num_confirmed = 0;
  for (const PublishedAudit& audit : audits) {
    num_contradicted += rules::num_contradicted(audit);
    num_deltas += static_cast<std::int64_t>(audit.deltas.size());
    num_confirmed += std::count_if(audit.deltas.begin(), audit.deltas.end(),
                                   [](const AuditedDelta& delta) { return delta.verdict == AuditSeverity::kConfirmed; });
  }
  std::vector<Fact> facts = audits.size() == 1 ? source_facts(audits.front()) : std::vector<Fact>{};
  const std::vector<Fact> totals = {
      {"provenance", "provenance", std::string("published: figures of the sources, and what follows from them by arithmetic")},
      {"num_deltas", "printed differences", Count{num_deltas}},
      {"num_confirmed_deltas", "of these confirmed", Count{num_confirmed}},
      {"num_contradicted", "contradicted findings", Count{num_contradicted}},
  };
  facts.insert(facts.end(), totals.begin(), totals.end());
  return facts;
}

std::vector<Table> audit_tables(const std::vector<PublishedAudit>& audits) {
  Table sources = table_over<PublishedAudit>(audits, "audit_sources", "Source", source_columns(),
                                             [](const PublishedAudit& a) { return std::vector<PublishedAudit>{a}; });
  if (audits.size() == 1) sources.place = Place::kDataOnly;  // text has it as facts
  Table findings =
      table_over<AuditFinding>(audits, "audit_findings", "Findings", finding_columns(), [](const auto& a) { return a.findings; });
  findings.in_csv = true;
  return {
      std::move(sources),
      table_over<Sentence>(audits, "audit_conclusions", "What the table supports, and what it does not", sentence_columns(), sentences_of),
      table_over<protocol::PublishedRow>(audits, "audit_rows", "Rows as published", row_columns(),
                                         [](const auto& a) { return a.published.rows; }),
      table_over<AuditedPair>(audits, "audit_pairs", "What each row may be set against", pair_columns(),
                              [](const auto& a) { return a.pairs; }),
      table_over<AuditedDelta>(audits, "audit_deltas", "Printed differences, recomputed", delta_columns(),
                               [](const auto& a) { return a.deltas; }),
      table_over<WorkRow>(audits, "audit_work", "Work of an iteration and spread of step times", work_columns(), work_rows),
      table_over<AuditedTime>(audits, "audit_times", "Differences of step times within 95 %", time_columns(),
                              [](const auto& a) { return a.times; }),
      std::move(findings),
  };
}

}  // namespace

ReportModel make_audit_report(const std::vector<PublishedAudit>& audits) {
  ReportModel model;
  model.title = title_of(audits);
  model.header = header_of(audits);
  for (Table& table : audit_tables(audits))
    if (!table.rows.empty()) model.tables.push_back(std::move(table));
  for (const PublishedAudit& audit : audits)
    for (const std::string& remark : audit.published.setting.remarks)
      model.notes.push_back("the source of " + audit.published.name + ": " + remark);
  return model;
}

}  // namespace rematch::report
