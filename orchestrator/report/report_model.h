// A report as values: facts, tables of typed cells, sentences. Formats only render it; nothing here is text that a format must parse.
// Made of a study and its verdict by make_report, of one arm or trial by make_detail_report. Pure.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <variant>
#include <vector>

#include "orchestrator/base/result.h"
#include "orchestrator/base/rows.h"
#include "orchestrator/base/verdicts.h"

namespace rematch::protocol {
struct Published;
}

namespace rematch::report {

struct Count {
  std::int64_t value = 0;
};
struct Bytes {
  std::int64_t value = 0;
};
struct BytesDelta {
  std::int64_t value = 0;
};  // printed with its sign
struct Nanoseconds {
  double value = 0;
};  // printed as milliseconds
// The same two in a unit that the column's title names, for tables in another's form.
struct PlainGigabytes {
  std::int64_t value = 0;
};  // bytes, printed as "36.618"
struct PlainMilliseconds {
  double value = 0;
};  // nanoseconds, printed as "457.18"
struct Hours {
  double value = 0;
};
struct Teraflops {
  double value = 0;
};  // TFLOP/s
struct Number {
  double value = 0;
};  // without a unit
struct Fraction {
  double value = 0;
};  // of a whole, printed as a percentage
struct FractionDelta {
  double value = 0;
};  // printed as a signed percentage
// monostate is "not measured": null in json, empty in csv, "-" in md.
using Cell = std::variant<std::monostate, std::string, Count, Bytes, BytesDelta, Nanoseconds, Hours, Teraflops, Number, Fraction,
                          FractionDelta, PlainGigabytes, PlainMilliseconds>;

// Of columns and of whole tables.
enum class Place { kEverywhere, kDataOnly, kTextOnly };  // data: csv, json and jsonl; text: md, html and latex

struct Column {
  std::string key;    // with its unit: "peak_allocated_bytes"
  std::string title;  // "peak allocated"; a format adds the unit that it prints
  Place place = Place::kEverywhere;
};

struct Table {
  std::string key;  // "arms"
  std::string title;
  std::vector<Column> columns;
  std::vector<std::vector<Cell>> rows;  // one cell a column
  Place place = Place::kEverywhere;
  bool in_csv = false;   // csv is flat: it holds the main tables only
  bool as_list = false;  // in text: a line a row, named by its first two cells, the others sentences behind their column's title
};

struct Fact {
  std::string key;
  std::string title;
  Cell value;
};

enum class PlotKind {
  kPoints,  // a series is an arm: its first point the arm's figures, further ones single runs, drawn faintly
  kLayers,  // a series is a phase: its layer reaches from 0 to y, the highest drawn first, so that each top edge is a figure; y holds from
            // its x up to the next one, and the last, nullopt, ends the layer: of ranks 0 to 7 at one height x is {0, 8}
  kLines,   // a series is a run
  kStackedBars,  // a bar a category, made of one part a series, whose sum means something
  kGroupedBars,  // a category has one bar a series; series differ in provenance
};

enum class PlotUnit { kNone, kBytes, kNanoseconds, kStep, kRank };

struct PlotAxis {
  std::string title;
  PlotUnit unit = PlotUnit::kNone;
  std::optional<double> up_to = std::nullopt;  // what lies above leaves the plot at this edge, and the caption says so; nullopt: all fits
};

struct PlotSeries {
  std::string name;                      // what the legend says
  std::vector<double> x;                 // of bars: index of the category
  std::vector<std::optional<double>> y;  // as many; nullopt: not measured, nothing is drawn
  bool is_emphasised = false;            // of points: in the Pareto set; of lines: the control
};

// A place on the x axis: warm-up ends, a block begins, a budget.
struct PlotMark {
  double at = 0;
  std::string label;  // empty: that of the last mark before it in the list that has one
};

// A picture as values, in the units in which they are stored; a format that has no pictures leaves it out, and no figure stands here alone
// that a table or the database does not have.
struct Plot {
  std::string key;  // "pareto"
  std::string title;
  std::string caption;  // what to read from it, with its provenance; one or two sentences
  PlotKind kind = PlotKind::kPoints;
  PlotAxis x;
  PlotAxis y;
  std::vector<std::string> categories;  // of bars
  std::vector<PlotSeries> series;
  std::vector<PlotMark> marks;
};

struct ReportModel {
  std::string title;
  std::vector<Fact> header;
  std::vector<Table> tables;  // two provenances never share a column
  std::vector<Fact> answer;
  std::vector<std::string> notes;
  std::vector<Plot> plots;
};

// What a part of a report adds to it.
struct ReportPart {
  std::vector<Table> tables;
  std::vector<std::string> notes;
};

// What a study's report may have beside its own figures. Borrowed; null: nothing.
struct Beside {
  const protocol::Published* published = nullptr;
  const base::StudyRows* twin = nullptr;  // trains the same, figures of another provenance
};

ReportModel make_report(const base::StudyRows& study, const base::StudyVerdict& verdict, const Beside& beside = {});

// Of one arm by name, or one trial by id or unambiguous prefix.
base::Result<ReportModel> make_detail_report(const base::StudyRows& study, const base::StudyVerdict& verdict,
                                             const std::string& trial_or_arm);

}  // namespace rematch::report
