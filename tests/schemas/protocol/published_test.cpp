#include "schemas/protocol/published.h"

#include <gtest/gtest.h>

#include <cmath>
#include <filesystem>
#include <nlohmann/json.hpp>

#include "tests/schemas/protocol/expect_refused.h"

namespace rematch::protocol {
namespace {

using nlohmann::json;

std::vector<std::filesystem::path> published_files() {
  std::vector<std::filesystem::path> files;
  for (const auto& entry : std::filesystem::directory_iterator(REMATCH_SOURCE_DIR "/sweeps/published"))
    if (entry.path().extension() == ".json") files.push_back(entry.path());
  return files;
}

// A value and half a unit of its last digit.
struct Rounded {
  double value = 0;
  double half_unit = 0;
};

std::optional<Rounded> figure_of(const PublishedRow& row, const std::string& of) {
  if (of == "peak_allocated" && row.peak_allocated) {
    const PublishedBytes& figure = row.peak_allocated->figure;
    return Rounded{static_cast<double>(figure.bytes), static_cast<double>(figure.resolution_bytes) / 2};
  }
  if (of == "step_time_ms" && row.step_time_ms)
    return Rounded{row.step_time_ms->value, std::pow(10.0, -static_cast<double>(row.step_time_ms->decimal_places)) / 2};
  return std::nullopt;
}

// How far a printed percentage may be from that of the printed figures: the rounding of all three.
double tolerance_percent(const Rounded& figure, const Rounded& base, const PublishedDelta& delta) {
  const double of_figures = (figure.half_unit + figure.value / base.value * base.half_unit) / base.value * 100;
  return of_figures + std::pow(10.0, -static_cast<double>(*delta.decimal_places)) / 2 + 1e-9;
}

void expect_recomputable(const Published& published, const PublishedRow& row, const PublishedDelta& delta) {
  const auto figure = figure_of(row, delta.of);
  const auto base = figure_of(*find_row(published, delta.against), delta.of);
  ASSERT_TRUE(figure && base);
  if (delta.percent) {
    EXPECT_NEAR(*delta.percent, (figure->value / base->value - 1) * 100, tolerance_percent(*figure, *base, delta));
  }
  if (!delta.magnitude) return;
  const double slack = figure->half_unit + base->half_unit + static_cast<double>(delta.magnitude->resolution_bytes) / 2;
  EXPECT_NEAR(static_cast<double>(delta.magnitude->bytes), std::abs(figure->value - base->value), slack);
}

TEST(PublishedFiles, AreReadAndNamedAfterTheirSweep) {
  EXPECT_EQ(published_files().size(), 4U);
  for (const auto& file : published_files()) {
    SCOPED_TRACE(file.string());
    EXPECT_EQ(read_published(file.string()).name, file.stem());
    EXPECT_TRUE(std::filesystem::exists(std::filesystem::path(file).replace_extension(".yaml")));
  }
}

TEST(PublishedFiles, HaveDifferencesThatTheirFiguresGive) {
  std::size_t num_deltas = 0;
  for (const auto& file : published_files()) {
    const Published published = read_published(file.string());
    for (const PublishedRow& row : published.rows)
      for (const PublishedDelta& delta : row.deltas) {
        SCOPED_TRACE(file.string() + " " + *row.arm + " " + delta.of);
        expect_recomputable(published, row, delta);
        ++num_deltas;
      }
  }
  EXPECT_EQ(num_deltas, 14U) << "eleven of Moonlight, three of Nemotron";
}

Published moonlight() { return read_published(REMATCH_SOURCE_DIR "/sweeps/published/moonlight_16b_8xh100.json"); }

TEST(Published, KeepsBytesAndWhatTheyAreOf) {
  const Published published = moonlight();
  ASSERT_EQ(published.rows.size(), 6U);
  const PublishedRow& row = *find_row(published, "layernorm+moe_act");
  EXPECT_EQ(row.peak_allocated->figure.bytes, 35'949'000'000);
  EXPECT_EQ(row.peak_allocated->figure.resolution_bytes, 1'000'000);
  EXPECT_EQ(row.peak_allocated->after_iteration, 2);
  EXPECT_EQ(row.peak_allocated->ranks, "data-parallel rank 0");
  EXPECT_EQ(row.step_time_ms->value, 506.53);
  EXPECT_EQ(row.outcome.iterations_completed, 20);
  EXPECT_EQ(find_row(published, "moe"), nullptr);
}

TEST(Published, ReadsBackWhatItWroteByteForByte) {
  const std::string text = to_json(moonlight()).dump();
  EXPECT_EQ(to_json(parse_published(json::parse(text))).dump(), text);
}

TEST(Published, NamesTheFigureThatIsNotWhatWasPrinted) {
  json document = to_json(moonlight());
  document["rows"][1]["peak_allocated"]["bytes"] = 36'614;
  expect_refused([&] { parse_published(document); }, {"published.rows[1].peak_allocated.bytes", "36614000000 of 36.614 GB", "36614"});
  document = to_json(moonlight());
  document["rows"][1]["peak_allocated"]["as_published"] = "36.614 gigabytes";
  expect_refused([&] { parse_published(document); }, {"as_published", "GB, MB, GiB or MiB", "gigabytes"});
  for (const char* text : {". GB", "1.2.3 GB", "1. GB", ".5 GB", "-1 GB", "inf GB", "1e3 GB", "36.614", "99999999999 GB", " GB", ""}) {
    document["rows"][1]["peak_allocated"]["as_published"] = text;
    expect_refused([&] { parse_published(document); }, {"published.rows[1].peak_allocated.as_published", text});
  }
}

TEST(Published, KeepsThatAPeakIsOfNoStatedStatisticOrRank) {
  const Published llama = read_published(REMATCH_SOURCE_DIR "/sweeps/published/llama3_70b_32xh100.json");
  for (const PublishedRow& row : llama.rows) {
    EXPECT_NE(row.outcome.kind, PublishedEnd::kCompleted);
    if (!row.peak_allocated) continue;
    EXPECT_EQ(row.peak_allocated->statistic, std::nullopt);
    EXPECT_EQ(row.peak_allocated->ranks, std::nullopt);
  }
  EXPECT_EQ(find_row(moonlight(), "[]")->peak_allocated->statistic, "lifetime maximum");
}

TEST(Published, WantsAnArmThatIsItsRecompute) {
  json document = to_json(moonlight());
  document["rows"][3]["arm"] = "mlp+mla_up_proj";
  expect_refused([&] { parse_published(document); }, {"published.rows[3].arm", "mla_up_proj+mlp", "mlp+mla_up_proj"});
}

TEST(Published, WantsAReasonOfARowThatIsNotComparable) {
  json document = to_json(moonlight());
  document["rows"][0]["comparable"] = false;
  expect_refused([&] { parse_published(document); }, {"published.rows[0].reason", "why the row is not comparable"});
}

TEST(Published, WantsDifferencesToAnotherRow) {
  json document = to_json(moonlight());
  document["rows"][1]["deltas"][0]["against"] = "core_attn";
  expect_refused([&] { parse_published(document); }, {"published.rows[1].deltas[0].against", "another row", "core_attn"});
}

TEST(Published, HasNoEvidenceOfAFailureThatWasNone) {
  json document = to_json(moonlight());
  document["rows"][0]["outcome"]["stage"] = "optimizer_init";
  expect_refused([&] { parse_published(document); }, {"published.rows[0].outcome", "out_of_memory only", "completed"});
}

TEST(Published, NamesAFileThatIsNotThere) {
  expect_refused([] { read_published("/no/such.json"); }, {"/no/such.json", "no such file"});
}

}  // namespace
}  // namespace rematch::protocol
