#include "orchestrator/cli/fitted_line.h"

#include <algorithm>

#include "orchestrator/cli/display_width.h"

namespace rematch::cli {

namespace {

constexpr int kLeastCutWidth = 12;

std::string joint_before(const Line& line, std::size_t index) {
  if (index == 0) return "";
  return line[index].group == line[index - 1].group ? ", " : ": ";
}

int width_of(const Line& line) {
  int width = 0;
  for (std::size_t i = 0; i < line.size(); ++i) width += display_width(joint_before(line, i)) + display_width(line[i].text);
  return width;
}

void shorten(Line& line) {
  for (LinePart& part : line)
    if (!part.brief.empty()) part.text = part.brief;
}

// Cuts what may be cut; false where too little of it would be left.
bool cut_down(Line& line, int num_columns) {
  const int excess = width_of(line) - num_columns;
  for (LinePart& part : line) {
    if (!part.may_be_cut) continue;
    const int left = display_width(part.text) - excess;
    if (left < kLeastCutWidth) continue;
    part.text = cut_to_width(part.text, left);
    return true;
  }
  return false;
}

void drop_lightest(Line& line) {
  line.erase(std::min_element(line.begin(), line.end(), [](const auto& a, const auto& b) { return a.weight < b.weight; }));
}

std::string joined(const Line& line, const Terminal& terminal) {
  std::string text;
  for (std::size_t i = 0; i < line.size(); ++i)
    text += joint_before(line, i) + (line[i].tone ? toned(line[i].text, *line[i].tone, terminal) : line[i].text);
  return text;
}

Line clean(Line line) {
  for (LinePart& part : line) {
    part.text = on_one_line(part.text);
    part.brief = on_one_line(part.brief);
  }
  std::erase_if(line, [](const LinePart& part) { return part.text.empty(); });
  return line;
}

}  // namespace

std::string whole_line(const Line& line, const Terminal& terminal) { return joined(clean(line), terminal); }

std::string fitted_line(const Line& wanted, int num_columns, const Terminal& terminal) {
  Line line = clean(wanted);
  if (width_of(line) > num_columns) shorten(line);
  while (line.size() > 1 && width_of(line) > num_columns && !cut_down(line, num_columns)) drop_lightest(line);
  if (!line.empty() && width_of(line) > num_columns) line.front().text = cut_to_width(line.front().text, std::max(0, num_columns));
  return joined(line, terminal);
}

}  // namespace rematch::cli
