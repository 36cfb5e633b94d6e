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
using Cell =
    std::variant<std::monostate, std::string, Count, Bytes, BytesDelta, Nanoseconds, Hours, Teraflops, Number, Fraction, FractionDelta>;

// Of columns and of whole tables.
enum class Place { kEverywhere, kDataOnly, kTextOnly };  // data: csv and json; text: md

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

struct ReportModel {
  std::string title;
  std::vector<Fact> header;
  std::vector<Table> tables;  // two provenances never share a column
  std::vector<Fact> answer;
  std::vector<std::string> notes;
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
