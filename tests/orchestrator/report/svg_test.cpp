#include "orchestrator/report/formats/svg.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <string_view>

#include "orchestrator/report/formats/svg_axis.h"
#include "orchestrator/report/formats/svg_canvas.h"
#include "orchestrator/report/formats/svg_path.h"
#include "tests/orchestrator/report/sample_plots.h"

namespace rematch::report {
namespace {

std::vector<std::string> texts_of(const AxisTicks& axis) {
  std::vector<std::string> texts;
  for (const Tick& tick : axis.ticks) texts.push_back(tick.text);
  return texts;
}

std::size_t count_of(std::string_view text, std::string_view part) {
  std::size_t count = 0;
  for (std::size_t at = text.find(part); at != std::string_view::npos; at = text.find(part, at + part.size())) ++count;
  return count;
}

std::string drawn(const Plot& plot, ByteUnits units = ByteUnits::kGB) { return svg_of(plot, units, "p"); }

// The `d` of the n-th path of this class.
std::string path_of(const std::string& svg, const std::string& classes, std::size_t n = 0) {
  std::size_t at = 0;
  for (std::size_t i = 0; i <= n; ++i) at = svg.find("<path class=\"" + classes, at + (i == 0 ? 0 : 1));
  if (at == std::string::npos) return "no such path";
  const std::size_t begin = svg.find(" d=\"", at) + 4;
  return svg.substr(begin, svg.find('"', begin) - begin);
}

using Texts = std::vector<std::string>;

TEST(SvgAxis, HasRoundTicksInTheUnitAskedFor) {
  const AxisTicks decimal = make_ticks({0, 1.05e9}, PlotUnit::kBytes, ByteUnits::kGB, AxisEnds::kRounded, 5);
  EXPECT_EQ(decimal.unit, "GB");
  EXPECT_EQ(texts_of(decimal), (Texts{"0.0", "0.5", "1.0", "1.5"}));
  EXPECT_DOUBLE_EQ(decimal.domain.high, 1.5e9);
  const AxisTicks binary = make_ticks({0, 1.5 * 1024 * 1024}, PlotUnit::kBytes, ByteUnits::kGiB, AxisEnds::kKept, 5);
  EXPECT_EQ(binary.unit, "MiB");
  EXPECT_EQ(texts_of(binary), (Texts{"0.0", "0.5", "1.0", "1.5"}));
  const AxisTicks times = make_ticks({9.95e6, 10.4e6}, PlotUnit::kNanoseconds, ByteUnits::kGB, AxisEnds::kRounded, 5);
  EXPECT_EQ(times.unit, "ms");
  EXPECT_EQ(texts_of(times), (Texts{"9.9", "10.0", "10.1", "10.2", "10.3", "10.4"}));
}

TEST(SvgAxis, HasWholeTicksForRanksAndSteps) {
  EXPECT_EQ(texts_of(make_ticks({0, 2}, PlotUnit::kRank, ByteUnits::kGB, AxisEnds::kKept, 8)), (Texts{"0", "1", "2"}));
  EXPECT_EQ(texts_of(make_ticks({0, 511}, PlotUnit::kStep, ByteUnits::kGB, AxisEnds::kKept, 6)),
            (Texts{"0", "100", "200", "300", "400", "500"}));
}

TEST(SvgAxis, WidensAnIntervalOfOneValue) {
  const AxisTicks axis = make_ticks({10e6, 10e6}, PlotUnit::kNanoseconds, ByteUnits::kGB, AxisEnds::kRounded, 5);
  EXPECT_LT(axis.domain.low, 10e6);
  EXPECT_GT(axis.domain.high, 10e6);
  EXPECT_GE(axis.ticks.size(), 2U);
  EXPECT_EQ(make_ticks({0, 0}, PlotUnit::kNone, ByteUnits::kGB, AxisEnds::kKept, 5).domain.high, 1);
}

TEST(SvgAxis, HasAPlaceForAnyValue) {
  const Scale scale{{0, 1}, 100, 200};
  EXPECT_EQ(scale.at(0.5), 150);
  EXPECT_EQ(scale.at(1e300), 100'100);
  EXPECT_EQ(scale.at(-1e300), -99'900);
}

TEST(SvgPath, JoinsWhatGoesOnAndNotWhatTurnsBack) {
  SvgPath path;
  path.move_to(10, 10);
  for (const int x : {11, 12, 20}) path.line_to(x, 10);
  path.line_to(15, 10);
  path.line_to(15, 30);
  path.line_to(16, 28);
  path.close();
  EXPECT_EQ(path.text(), "M10 10h10h-5v20l1-2z");
}

TEST(SvgPath, IsADotWhereNoLineFollows) {
  SvgPath path;
  path.move_to(1, 2);
  path.move_to(5, 7);
  path.line_to(5, 9);
  EXPECT_EQ(path.text(), "M1 2h0m4 5v2");
}

TEST(SvgText, IsCutWithAnEllipsisBetweenCharacters) {
  EXPECT_EQ(fitted("short", 200), "short");
  const std::string cut = fitted("\xe6\x97\xa5\xe6\x9c\xac\xe8\xaa\x9e\xe6\x97\xa5", 90);
  EXPECT_EQ(cut, "\xe6\x97\xa5\xe6\x9c\xac\xe2\x80\xa6");
  EXPECT_LE(text_width(cut), 90);
}

TEST(Svg, IsAnImageWithATitleAndADescription) {
  for (const Plot& plot : tests::sample_plots()) {
    const std::string svg = drawn(plot);
    EXPECT_TRUE(svg.starts_with("<svg role=\"img\" aria-labelledby=\"p-title p-text\" viewBox=\"0 0 880 ")) << plot.key;
    EXPECT_NE(svg.find("<title id=\"p-title\">" + plot.title + "</title><desc id=\"p-text\">"), std::string::npos) << plot.key;
  }
}

TEST(Svg, EscapesNames) {
  const std::string svg = drawn(tests::points_plot());
  EXPECT_EQ(svg.find("core<attn>"), std::string::npos);
  EXPECT_GE(count_of(svg, "core&lt;attn&gt; &amp; &quot;more&quot;"), 2U);  // of the point's name and of what shows under the mouse
}

TEST(Svg, HasAPointForEachArmWithFiguresAndTheFrontThroughTheParetoSet) {
  const std::string svg = drawn(tests::points_plot());
  EXPECT_EQ(count_of(svg, "<circle class=\"p\""), 3U);  // two arms, and the legend
  EXPECT_EQ(count_of(svg, "<circle class=\"o\""), 2U);
  EXPECT_EQ(count_of(svg, "<circle class=\"i\""), 3U);
  EXPECT_EQ(count_of(svg, "<path class=\"w\""), 2U);
  EXPECT_NE(svg.find("<title>moe_act: 800.000 MB, 10.40 ms</title>"), std::string::npos);
  EXPECT_EQ(svg.find("no figures:"), std::string::npos);
}

TEST(Svg, PrintsAxesInTheUnitsAskedFor) {
  EXPECT_NE(drawn(tests::points_plot()).find(">peak allocated (GB)<"), std::string::npos);
  EXPECT_NE(drawn(tests::points_plot(), ByteUnits::kGiB).find(">peak allocated (GiB)<"), std::string::npos);
}

TEST(Svg, JoinsRanksOfOneHeight) {
  const std::string level = path_of(drawn(tests::layers_plot(512, 0)), "y s1");
  EXPECT_EQ(std::count(level.begin(), level.end(), 'h'), 1);
  EXPECT_EQ(std::count(level.begin(), level.end(), 'v'), 2);
  const std::string falling = path_of(drawn(tests::layers_plot(4)), "y s1");
  EXPECT_EQ(std::count(falling.begin(), falling.end(), 'h'), 4);
}

TEST(Svg, LeavesAGapWhereALayerEnds) {
  Plot plot = tests::layers_plot(4, 0);
  for (PlotSeries& series : plot.series) series.y[1] = std::nullopt;
  const std::string path = path_of(drawn(plot), "y s0");
  EXPECT_EQ(std::count(path.begin(), path.end(), 'z'), 2) << path;
  EXPECT_EQ(std::count(path.begin(), path.end(), 'm'), 1) << path;
}

TEST(Svg, LetsALineLeaveAtTheEdgeAndStopsItWhereNothingWasMeasured) {
  const std::string svg = drawn(tests::lines_plot());
  const std::string whole = path_of(svg, "l m s0");
  const std::string broken = path_of(svg, "l s1");
  EXPECT_EQ(std::count(whole.begin(), whole.end(), 'm'), 0) << whole;
  EXPECT_EQ(std::count(broken.begin(), broken.end(), 'm'), 1) << broken;
  // It begins at the upper edge, and to the right of the first step, which lies above.
  const auto x_of = [](const std::string& path) { return std::stoi(path.substr(1)); };
  const std::string axis = path_of(svg, "a");
  EXPECT_GT(x_of(whole), x_of(axis)) << whole << " " << axis;
  EXPECT_NE(svg.find(">warm-up ends<"), std::string::npos);
  EXPECT_NE(svg.find(">block 1 begins<"), std::string::npos);
}

TEST(Svg, StacksWhatWasMeasuredAndSaysTheSum) {
  const std::string svg = drawn(tests::stacked_plot());
  EXPECT_EQ(count_of(svg, "<path class=\"b\""), 6U);  // two bars of two parts, and the legend
  EXPECT_NE(svg.find(">550.000 MB</text>"), std::string::npos);
  EXPECT_NE(svg.find("<title>activations: 280.000 MB</title>"), std::string::npos);
}

TEST(Svg, DrawsNoBarForWhatWasNotMeasured) {
  const std::string svg = drawn(tests::grouped_plot());
  EXPECT_EQ(count_of(svg, "<path class=\"b\""), 5U);  // three bars, and the legend
  EXPECT_EQ(count_of(svg, "class=\"v\""), 3U);
  EXPECT_NE(svg.find(">an arm with a name that is far too long to stand beside its bars<"), std::string::npos);
}

TEST(Svg, DrawsPlotsOfNothing) {
  for (Plot plot : tests::sample_plots()) {
    plot.series.clear();
    plot.categories.clear();
    EXPECT_TRUE(drawn(plot).ends_with("</svg>\n")) << plot.key;
    plot.series = {{"empty", {}, {}, true}};
    EXPECT_EQ(drawn(plot).find("nan"), std::string::npos) << plot.key;
  }
}

}  // namespace
}  // namespace rematch::report
