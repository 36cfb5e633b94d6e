#include "orchestrator/report/formats/html_plots.h"

#include <algorithm>
#include <utility>

#include "orchestrator/report/formats/html_text.h"
#include "orchestrator/report/formats/svg.h"

namespace rematch::report {

namespace {

constexpr std::ptrdiff_t kMany = 6;
constexpr std::size_t kManyBars = 24;  // of one plot, which is high then

std::string figure(const Plot& plot, ByteUnits units, const std::string& id) {
  return "<figure" + attribute("data-key", plot.key) + "><figcaption><b>" + escaped_html(plot.title) + "</b>" + escaped_html(plot.caption) +
         "</figcaption>\n" + svg_of(plot, units, id) + "</figure>\n";
}

// "rank_phases": Rank phases.
std::string words_of(const std::string& key) {
  std::string words = key;
  std::replace(words.begin(), words.end(), '_', ' ');
  if (!words.empty() && words.front() >= 'a' && words.front() <= 'z') words.front() = static_cast<char>(words.front() - 'a' + 'A');
  return words;
}

std::string grid(const std::string& figures) { return "<div class=\"plots\">\n" + figures + "</div>\n"; }

std::string folded(const std::string& name, std::ptrdiff_t num_plots, const std::string& content) {
  const std::string size = num_plots == 1 ? "1 plot" : std::to_string(num_plots) + " plots";
  return "<details><summary>" + escaped_html(name) + " <span>" + size + "</span></summary>\n" + content + "</details>\n";
}

bool is_high(const Plot& plot) { return plot.categories.size() > kManyBars; }

}  // namespace

std::string html_plots(const std::vector<Plot>& plots, ByteUnits units) {
  std::string text;
  std::string shown;  // figures that stand in one grid
  const auto show = [&] {
    if (!shown.empty()) text += grid(std::exchange(shown, ""));
  };
  for (auto begin = plots.begin(); begin != plots.end();) {
    const auto end = std::find_if(begin, plots.end(), [&](const Plot& plot) { return plot.key != begin->key; });
    std::string figures;
    for (auto plot = begin; plot != end; ++plot) figures += figure(*plot, units, "plot" + std::to_string(plot - plots.begin() + 1));
    if (end - begin < kMany && std::none_of(begin, end, is_high)) {
      shown += figures;
    } else {
      show();
      text += folded(words_of(begin->key), end - begin, grid(figures));
    }
    begin = end;
  }
  show();
  return text;
}

}  // namespace rematch::report
