#include "schemas/protocol/published.h"

#include <algorithm>
#include <charconv>
#include <cmath>
#include <nlohmann/json.hpp>
#include <system_error>

#include "schemas/protocol/document_error.h"
#include "schemas/protocol/json_fields.h"
#include "schemas/protocol/recompute_arm.h"
#include "schemas/protocol/trial_paths.h"

namespace rematch::protocol {

std::string_view to_string(PublishedEnd end) {
  switch (end) {
    case PublishedEnd::kCompleted: return "completed";
    case PublishedEnd::kOutOfMemory: return "out_of_memory";
    case PublishedEnd::kNotStated: return "not_stated";
  }
  return "unknown";
}

static void read_value(const Place& place, PublishedEnd& end) { end = read_named(place, kAllPublishedEnds); }
static void read_value(const Place& place, Stage& stage) { stage = read_named(place, kAllStages); }

template <typename Visitor, Is<PublishedSource> Source>
void visit_fields(Visitor& field, Source& source) {
  field("title", source.title, not_empty());
  field("section", source.section, not_empty());
  field("date", source.date, not_empty());
  field("bridge_revision", source.bridge_revision, not_empty());
  field("core_revision", source.core_revision, not_empty());
  field("hardware", source.hardware, not_empty());
}

template <typename Visitor, Is<PublishedLayout> Layout>
void visit_fields(Visitor& field, Layout& layout) {
  field("world_size", layout.world_size, at_least(1));
  field("tensor_model_parallel_size", layout.tensor_model_parallel_size, at_least(1));
  field("pipeline_model_parallel_size", layout.pipeline_model_parallel_size, at_least(1));
  field("virtual_pipeline_model_parallel_size", layout.virtual_pipeline_model_parallel_size, at_least(1));
  field("context_parallel_size", layout.context_parallel_size, at_least(1));
  field("expert_model_parallel_size", layout.expert_model_parallel_size, at_least(1));
  field("data_parallel_size", layout.data_parallel_size, at_least(1));
  field("expert_data_parallel_size", layout.expert_data_parallel_size, at_least(1));
}

template <typename Visitor, Is<PublishedSetting> Setting>
void visit_fields(Visitor& field, Setting& setting) {
  field("model", setting.model, not_empty());
  field("preset", setting.preset, not_empty());
  field("changed_fields", setting.changed_fields);
  field("seq_length", setting.seq_length, at_least(1));
  field("micro_batch_size", setting.micro_batch_size, at_least(1));
  field("global_batch_size", setting.global_batch_size, at_least(1));
  field("train_iters", setting.train_iters, at_least(1));
  field("precision", setting.precision, not_empty());
  field("attention", setting.attention, one_of({"fused", "unfused"}));
  field("layout", setting.layout);
  field("remarks", setting.remarks);
}

template <typename Visitor, Is<PublishedBytes> Figure>
void visit_fields(Visitor& field, Figure& figure) {
  field("as_published", figure.as_published, not_empty());
  field("bytes", figure.bytes, at_least(0));
  field("resolution_bytes", figure.resolution_bytes, at_least(1));
  field("is_approximate", figure.is_approximate);
}

template <typename Visitor, Is<PublishedPeak> Peak>
void visit_fields(Visitor& field, Peak& peak) {
  visit_fields(field, peak.figure);
  field("ranks", peak.ranks, one_of({"rank 0", "data-parallel rank 0"}));
  field("after_iteration", peak.after_iteration, at_least(1));
  field("statistic", peak.statistic, one_of({"lifetime maximum"}));
}

template <typename Visitor, Is<PublishedMean> Mean>
void visit_fields(Visitor& field, Mean& mean) {
  field("value", mean.value, at_least(0));
  field("decimal_places", mean.decimal_places, at_least(0));
  field("is_approximate", mean.is_approximate);
  field("first_iteration", mean.first_iteration, at_least(1));
  field("last_iteration", mean.last_iteration, at_least(1));
}

template <typename Visitor, Is<PublishedDelta> Delta>
void visit_fields(Visitor& field, Delta& delta) {
  field("of", delta.of, one_of({"peak_allocated", "step_time_ms"}));
  field("against", delta.against, not_empty());
  field("percent", delta.percent);
  field("decimal_places", delta.decimal_places, at_least(0));
  field("magnitude", delta.magnitude);
}

template <typename Visitor, Is<PublishedOutcome> Outcome>
void visit_fields(Visitor& field, Outcome& outcome) {
  field("kind", outcome.kind);
  field("iterations_completed", outcome.iterations_completed, at_least(0));
  field("stage", outcome.stage);
  field("requested", outcome.requested);
  field("allocated", outcome.allocated);
  field("evidence", outcome.evidence);
}

template <typename Visitor, Is<PublishedRecompute> Recompute>
void visit_fields(Visitor& field, Recompute& recompute) {
  field("recompute_granularity", recompute.recompute_granularity, one_of({"selective", "full"}));
  field("recompute_modules", recompute.recompute_modules);
  field("recompute_method", recompute.recompute_method, one_of({"uniform", "block"}));
  field("recompute_num_layers", recompute.recompute_num_layers, at_least(1));
}

template <typename Visitor, Is<PublishedRow> Row>
void visit_fields(Visitor& field, Row& row) {
  field("arm", row.arm, not_empty());
  field("recompute", row.recompute);
  field("description", row.description);
  field("precision", row.precision, one_of({"bf16", "fp8"}));
  field("comparable", row.comparable);
  field("reason", row.reason);
  field("outcome", row.outcome);
  field("peak_allocated", row.peak_allocated);
  field("peak_reserved", row.peak_reserved);
  field("step_time_ms", row.step_time_ms);
  field("tflops_per_gpu", row.tflops_per_gpu);
  field("deltas", row.deltas);
}

template <typename Visitor, Is<Published> Document>
void visit_fields(Visitor& field, Document& published) {
  field.constant("schema", kPublishedSchema);
  field("name", published.name, not_empty());
  field("source", published.source);
  field("setting", published.setting);
  field("rows", published.rows);
}

namespace {

[[noreturn]] void refuse(const std::string& path, const std::string& wanted, const std::string& found) {
  throw DocumentError(path + ": wanted " + wanted + ", found " + found);
}

constexpr double kLargestNumber = 1e9;  // of any unit still within 63 bits

double bytes_of_unit(const std::string& path, const std::string& unit) {
  if (unit == "GB") return 1e9;
  if (unit == "MB") return 1e6;
  if (unit == "GiB") return 1024.0 * 1024 * 1024;
  if (unit == "MiB") return 1024.0 * 1024;
  refuse(path, "a number and GB, MB, GiB or MiB", printable(unit));
}

// Digits, with or without a point among them; null for any other text.
std::optional<double> decimal(const std::string& number) {
  const auto is_digit = [](char character) { return character >= '0' && character <= '9'; };
  if (number.empty() || !is_digit(number.front()) || !is_digit(number.back())) return std::nullopt;
  double value = 0;
  const auto [end, error] = std::from_chars(number.data(), number.data() + number.size(), value, std::chars_format::fixed);
  return error == std::errc() && end == number.data() + number.size() ? std::optional(value) : std::nullopt;
}

// What was printed says the bytes and how far they are known.
void check_figure(const std::string& path, const PublishedBytes& figure) {
  const std::string& text = figure.as_published;
  const std::size_t space = text.find(' ');
  const std::string number = text.substr(0, space);
  const auto value = decimal(number);
  if (space == std::string::npos || !value || *value > kLargestNumber)
    refuse(path + ".as_published", "a number, such as 36.618, up to 1e9, a space and a unit", printable(text));
  const double unit = bytes_of_unit(path + ".as_published", text.substr(space + 1));
  const std::size_t point = number.find('.');
  const double num_places = point == std::string::npos ? 0 : static_cast<double>(number.size() - point - 1);
  const std::int64_t bytes = std::llround(*value * unit);
  const std::int64_t resolution_bytes = std::llround(unit / std::pow(10, num_places));
  if (bytes != figure.bytes) refuse(path + ".bytes", std::to_string(bytes) + " of " + text, std::to_string(figure.bytes));
  if (resolution_bytes != figure.resolution_bytes)
    refuse(path + ".resolution_bytes", std::to_string(resolution_bytes) + " of " + text, std::to_string(figure.resolution_bytes));
}

void check_figure(const std::string& path, const std::optional<PublishedBytes>& figure) {
  if (figure) check_figure(path, *figure);
}
void check_figure(const std::string& path, const std::optional<PublishedPeak>& peak) {
  if (peak) check_figure(path, peak->figure);
}

std::optional<std::string> arm_of(const std::optional<PublishedRecompute>& recompute) {
  if (!recompute) return std::nullopt;
  RecomputeSpec spec;
  spec.recompute_granularity = recompute->recompute_granularity;
  spec.recompute_modules = recompute->recompute_modules;
  spec.recompute_method = recompute->recompute_method;
  spec.recompute_num_layers = recompute->recompute_num_layers;
  return arm_name(spec);
}

void check_row(const std::string& path, const Published& published, const PublishedRow& row) {
  const std::optional<std::string> arm = arm_of(row.recompute);
  if (arm != row.arm) refuse(path + ".arm", arm.value_or("null") + ", as its recompute says", row.arm.value_or("null"));
  if (row.comparable != row.reason.empty())
    refuse(path + ".reason", row.comparable ? "no text of a row that is comparable" : "why the row is not comparable",
           '"' + row.reason + '"');
  if (row.outcome.kind != PublishedEnd::kOutOfMemory && (row.outcome.stage || row.outcome.requested || row.outcome.allocated))
    refuse(path + ".outcome", "stage, requested and allocated of an out_of_memory only", std::string(to_string(row.outcome.kind)));
  check_figure(path + ".outcome.requested", row.outcome.requested);
  check_figure(path + ".outcome.allocated", row.outcome.allocated);
  check_figure(path + ".peak_allocated", row.peak_allocated);
  check_figure(path + ".peak_reserved", row.peak_reserved);
  for (std::size_t i = 0; i < row.deltas.size(); ++i) {
    const std::string delta_path = path + ".deltas[" + std::to_string(i) + "]";
    if (row.deltas[i].against == row.arm || find_row(published, row.deltas[i].against) == nullptr)
      refuse(delta_path + ".against", "the arm of another row", row.deltas[i].against);
    if (!row.deltas[i].percent && !row.deltas[i].magnitude) refuse(delta_path, "a percentage, a magnitude or both", "neither");
    if (row.deltas[i].percent.has_value() != row.deltas[i].decimal_places.has_value())
      refuse(delta_path + ".decimal_places", "a number where there is a percentage, else null",
             row.deltas[i].decimal_places ? std::to_string(*row.deltas[i].decimal_places) : "null");
    check_figure(delta_path + ".magnitude", row.deltas[i].magnitude);
  }
}

}  // namespace

const PublishedRow* find_row(const Published& published, std::string_view arm) {
  const auto found =
      std::find_if(published.rows.begin(), published.rows.end(), [&](const PublishedRow& row) { return row.arm && *row.arm == arm; });
  return found == published.rows.end() ? nullptr : &*found;
}

nlohmann::json to_json(const Published& published) { return json_document(published); }

Published parse_published(const nlohmann::json& document) {
  auto published = read_document<Published>(document, "published", UnknownKeys::kRefuse);
  if (!may_name_a_file(published.name)) refuse("published.name", kFileNameRule, printable(published.name));
  for (std::size_t i = 0; i < published.rows.size(); ++i) {
    const PublishedRow& row = published.rows[i];
    const std::string path = "published.rows[" + std::to_string(i) + "]";
    if (row.arm && find_row(published, *row.arm) != &row) refuse(path + ".arm", "each arm once", *row.arm);
    check_row(path, published, row);
  }
  return published;
}

Published read_published(const std::string& path) {
  Published published;
  with_json_file(path, [&](const nlohmann::json& document) { published = parse_published(document); });
  return published;
}

}  // namespace rematch::protocol
