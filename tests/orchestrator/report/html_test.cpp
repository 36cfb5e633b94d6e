#include <gtest/gtest.h>

#include <iostream>
#include <string_view>

#include "orchestrator/report/format.h"
#include "orchestrator/report/formats/html_assets.h"
#include "orchestrator/rules/judge.h"
#include "tests/orchestrator/report/sample_plots.h"
#include "tests/orchestrator/study_builder.h"

namespace rematch::report {
namespace {

std::size_t count_of(std::string_view text, std::string_view part) {
  std::size_t count = 0;
  for (std::size_t at = text.find(part); at != std::string_view::npos; at = text.find(part, at + part.size())) ++count;
  return count;
}

std::string html(const ReportModel& model, ByteUnits units = ByteUnits::kGB) { return render(model, "html", units).value(); }

ReportModel model_of(const base::StudyRows& study) { return make_report(study, rules::judge_study(study)); }

ReportModel model_of_table(std::vector<Column> columns, std::vector<std::vector<Cell>> rows) {
  ReportModel model;
  model.title = "t";
  model.tables.push_back({"some", "Some", std::move(columns), std::move(rows)});
  return model;
}

TEST(Html, LetsNoNameBecomeMarkup) {
  const std::string odd = "<script>alert(1)</script> \"a\" 'b' & \x01";
  tests::StudyBuilder builder = tests::clean_study(odd);
  builder.plan().arms.back().reason = odd;
  ReportModel model = model_of(builder.rows());
  model.plots = tests::sample_plots();
  for (Plot& plot : model.plots) {
    plot.title = plot.caption = plot.x.title = plot.y.title = odd;
    for (PlotSeries& series : plot.series) series.name = odd;
    for (std::string& category : plot.categories) category = odd;
    for (PlotMark& mark : plot.marks) mark.label = odd;
  }
  model.notes.push_back(odd);
  const std::string text = html(model);
  EXPECT_EQ(count_of(text, "<script"), 1U);
  EXPECT_EQ(count_of(text, "\x01"), 0U);
  EXPECT_EQ(count_of(text, "\" 'b'"), 0U);
  EXPECT_GE(count_of(text, "&lt;script&gt;alert(1)&lt;/script&gt; &quot;a&quot; &#39;b&#39; &amp; \xef\xbf\xbd"), 6U);
}

TEST(Html, AsksNothingOfAnyNetwork) {
  ReportModel model = model_of(tests::clean_study().rows());
  model.plots = tests::sample_plots();
  const std::string text = html(model);
  for (const char* outside : {"://", "src=", "<link", "@import", "url(\"", "url(h"})
    EXPECT_EQ(text.find(outside), std::string::npos) << outside;
  EXPECT_NE(text.find("default-src 'none'"), std::string::npos);
  EXPECT_LT(html_style().size() + html_script().size(), 12'000U);
}

TEST(Html, HasTheRawValueBesideEachNumberAndADashForWhatWasNotMeasured) {
  const std::string text = html(model_of_table(
      {{"name", "name"}, {"peak_bytes", "peak"}, {"time_ns", "time"}, {"none", "none"}},
      {{std::string("a"), Bytes{1'500'000'000}, Nanoseconds{1.25e6}, Cell{}}, {std::string("b"), Cell{}, Nanoseconds{2e6}, Cell{}}}));
  EXPECT_NE(text.find("<td class=\"n\" data-v=\"1500000000\">1.500 GB</td>"), std::string::npos);
  EXPECT_NE(text.find("<td class=\"n\" data-v=\"1250000\">1.25 ms</td>"), std::string::npos);
  EXPECT_NE(text.find("<th scope=\"row\">b</th><td class=\"n m\">-</td>"), std::string::npos);
  EXPECT_EQ(text.find(">none<"), std::string::npos) << "a column without any value is left out";
}

TEST(Html, PrintsBytesInTheUnitsAskedFor) {
  const ReportModel model = model_of_table({{"peak_bytes", "peak"}}, {{Bytes{1'073'741'824}}});
  EXPECT_NE(html(model).find(">1.074 GB<"), std::string::npos);
  EXPECT_NE(html(model, ByteUnits::kGiB).find(">1.000 GiB<"), std::string::npos);
}

TEST(Html, BeginsWithTheAnswerAndEndsWithNotes) {
  ReportModel model = model_of(tests::capacity_study().rows());
  model.plots = tests::sample_plots();
  model.notes = {"a note"};
  const std::string text = html(model);
  std::size_t before = text.find("<main");
  for (const char* section : {"answer", "arms", "plots", "failed_arms", "diagnoses", "facts", "commands", "notes"}) {
    const std::size_t at = text.find("<section id=\"" + std::string(section) + "\"");
    ASSERT_NE(at, std::string::npos) << section;
    EXPECT_GT(at, before) << section;
    before = at;
  }
  EXPECT_EQ(count_of(text, "<tr class=\"chosen\">"), 1U);
}

TEST(Html, OfAModelWithoutAnAnswerBeginsWithItsFacts) {
  const base::StudyRows study = tests::clean_study().rows();
  const std::string text = html(make_detail_report(study, rules::judge_study(study), "moe_act").value());
  EXPECT_LT(text.find("<section id=\"facts\""), text.find("<section id=\"runs\""));
  EXPECT_EQ(text.find("id=\"answer\""), std::string::npos);
  EXPECT_EQ(text.find("id=\"plots\""), std::string::npos);
  EXPECT_NE(text.find("<pre data-key=\"replay_command\">"), std::string::npos);
}

TEST(Html, FoldsManyPlotsOfOneKindAndLongTables) {
  ReportModel model = model_of_table({{"count", "count"}}, std::vector<std::vector<Cell>>(30, {Count{1}}));
  model.plots = {tests::points_plot(), tests::stacked_plot()};
  EXPECT_EQ(count_of(html(model), "<details>"), 1U);
  for (int arm = 0; arm < 64; ++arm) model.plots.push_back(tests::layers_plot());
  const std::string text = html(model);
  EXPECT_EQ(count_of(text, "<details>"), 2U);
  EXPECT_NE(text.find("Rank phases <span>64 plots</span>"), std::string::npos);
  EXPECT_EQ(count_of(text, "<figure"), 66U);
}

TEST(Html, GivesEachElementAnIdOfItsOwn) {
  ReportModel model = model_of_table({{"count", "count"}}, {{Count{1}}});
  model.tables.push_back(model.tables.front());
  model.plots = {tests::points_plot(), tests::points_plot()};
  const std::string text = html(model);
  for (const char* id : {"some", "some-2", "plot1-title", "plot2-title"})
    EXPECT_EQ(count_of(text, "id=\"" + std::string(id) + "\""), 1U) << id;
}

TEST(Formats, SayWhichOfThemDrawPlots) {
  EXPECT_TRUE(draws_plots("html"));
  for (const char* format : {"md", "csv", "json", "none"}) EXPECT_FALSE(draws_plots(format)) << format;
}

// 64 arms on 512 ranks, each of which peaks elsewhere.
base::StudyRows large_study() {
  tests::StudyBuilder builder("large", {.world_size = 512});
  const std::vector<std::string> labels = {"core_attn", "layernorm", "mla_up_proj", "mlp", "moe", "moe_act"};
  builder.plan().num_blocks = 1;
  for (unsigned set = 1; set < 64; ++set) {
    std::vector<std::string> chosen;
    for (std::size_t i = 0; i < labels.size(); ++i)
      if ((set >> i & 1U) != 0) chosen.push_back(labels[i]);
    builder.add_arm(chosen);
  }
  for (protocol::Trial& trial : builder.plan().trials) {
    trial.training.train_iters = 3;
    trial.measure = {2, 1};
  }
  tests::RunShape shape{.num_steps = 3};
  for (std::int64_t rank = 0; rank < 512; ++rank) shape.extra_bytes[rank] = -(rank * 7919 % 97) * tests::kMegabyte;
  for (const base::ArmRow& arm : std::vector<base::ArmRow>(builder.plan().arms)) {
    shape.backward_peak_bytes -= tests::kMegabyte;
    builder.run_all(arm.arm, shape);
  }
  return builder.rows();
}

TEST(Html, OfSixtyFourArmsOn512RanksIsBelowFiveMegabytes) {
  const std::string text = html(model_of(large_study()));
  std::cout << "html of 64 arms on 512 ranks: " << text.size() << " bytes\n";
  EXPECT_GE(count_of(text, "<figure data-key=\"rank_phases\""), 64U);
  EXPECT_LT(text.size(), 5'000'000U);
}

}  // namespace
}  // namespace rematch::report
