#include "orchestrator/report/model_document.h"

#include <gtest/gtest.h>

#include "orchestrator/report/format.h"

namespace rematch::report {
namespace {

ReportModel model_with_every_cell() {
  ReportModel model;
  model.title = "Study \"odd\" \xc3\xa9";
  model.header = {{"study", "study", std::string("a|b")}, {"missing", "missing", Cell{}}};
  Table table;
  table.key = "arms";
  table.title = "Arms";
  table.columns = {{"everywhere", "e"}, {"data", "d", Place::kDataOnly}, {"text", "t", Place::kTextOnly}};
  table.rows = {{Count{1}, Bytes{1'000'000}, BytesDelta{-5}},
                {Nanoseconds{1.25e6}, Teraflops{0.1}, Fraction{0.333333333333333}},
                {FractionDelta{-0.02}, std::string(""), Cell{}}};
  table.in_csv = true;
  table.place = Place::kEverywhere;
  model.tables = {table};
  model.answer = {{"arm", "answer", std::string("[]")}};
  model.notes = {"one", "two\nlines"};
  return model;
}

TEST(ModelDocument, GivesTheSameReportInEveryFormat) {
  const ReportModel model = model_with_every_cell();
  const std::optional<ReportModel> parsed = parse_model(model_text(model));
  ASSERT_TRUE(parsed);
  for (const std::string& format : format_names()) EXPECT_EQ(render(*parsed, format).value(), render(model, format).value()) << format;
  EXPECT_EQ(parsed->tables[0].columns[1].place, Place::kDataOnly);
  EXPECT_EQ(model_text(*parsed), model_text(model));
}

TEST(ModelDocument, IsNoneOfAnythingElse) {
  const std::string text = model_text(model_with_every_cell());
  for (const std::string& broken : {std::string(), text.substr(0, text.size() / 2), std::string("{}"), std::string("[1]"),
                                    std::string(R"({"title":"t","header":[["k","t",[99,1]]],"tables":[],"answer":[],"notes":[]})")})
    EXPECT_FALSE(parse_model(broken)) << broken;
}

TEST(ModelDocument, GivesTheSamePlots) {
  Plot plot;
  plot.key = "steps";
  plot.title = "Steps \"odd\"";
  plot.caption = "modelled-device";
  plot.kind = PlotKind::kLines;
  plot.x = {"step", PlotUnit::kStep};
  plot.y = {"step time", PlotUnit::kNanoseconds, 2.5};
  plot.categories = {"a", "b"};
  plot.series = {{"[]", {0, 1, 2}, {1.5, std::nullopt, 3}, true}};
  plot.marks = {{2, "steady"}};
  const auto parsed = parse_plots(plots_text({plot}));
  ASSERT_TRUE(parsed);
  ASSERT_EQ(parsed->size(), 1U);
  EXPECT_EQ(plots_text(*parsed), plots_text({plot}));
  EXPECT_EQ(parsed->front().series.front().y, plot.series.front().y);
  EXPECT_EQ(parsed->front().marks.front().label, "steady");
  EXPECT_EQ(parsed->front().y.unit, PlotUnit::kNanoseconds);
  EXPECT_EQ(parsed->front().x.up_to, std::nullopt);
  EXPECT_EQ(parsed->front().y.up_to, 2.5);
}

TEST(ModelDocument, HasNoPlotsOfAnythingElse) {
  for (const char* broken : {"", "{", "{}", "[1]", R"([{"key":"k"}])"}) EXPECT_FALSE(parse_plots(broken)) << broken;
}

}  // namespace
}  // namespace rematch::report
