#include "orchestrator/report/formats/svg_canvas.h"

#include <algorithm>
#include <array>

#include "orchestrator/report/formats/html_text.h"

namespace rematch::report {

namespace {

constexpr int kAscent = 24;
constexpr int kDescent = 8;
constexpr std::size_t kNumLooks = 16;
constexpr std::size_t kNumColours = 8;

bool begins_character(char c) { return (static_cast<unsigned char>(c) & 0xC0) != 0x80; }

bool is_one_of(char c, std::string_view characters) { return characters.find(c) != std::string_view::npos; }

// Of the character that begins here, in a wide font at kSvgText. Letters of East Asia are square; arrows and the ellipsis are less wide.
int character_width(std::string_view text) {
  const char c = text.front();
  const auto lead = static_cast<unsigned char>(c);
  if (lead >= 0xC0) return lead >= 0xE3 ? 27 : lead == 0xE2 ? 26 : 19;
  if (is_one_of(c, "iljtfrI.,:;'|!()[]/ ")) return 12;
  if (is_one_of(c, "mwMWQGO@%+=<>~")) return 26;
  return c >= 'A' && c <= 'Z' ? 20 : 17;
}

std::string_view anchor_class(Anchor anchor) {
  switch (anchor) {
    case Anchor::kStart: return "";
    case Anchor::kMiddle: return "c";
    case Anchor::kEnd: return "e";
  }
  return "";
}

Box box_of(int x, int y, Anchor anchor, int width) {
  const int left = anchor == Anchor::kStart ? x : anchor == Anchor::kMiddle ? x - width / 2 : x - width;
  return {left, y - kAscent, left + width, y + kDescent};
}

bool overlap(const Box& a, const Box& b) { return a.left < b.right && b.left < a.right && a.top < b.bottom && b.top < a.bottom; }

bool is_inside(const Box& box, const Box& around) {
  return box.left >= around.left && box.right <= around.right && box.top >= around.top && box.bottom <= around.bottom;
}

std::string class_attribute(std::string_view first, std::string_view second) {
  if (first.empty() && second.empty()) return "";
  const std::string gap = first.empty() || second.empty() ? "" : " ";
  return attribute("class", std::string(first) + gap + std::string(second));
}

std::string title_element(const std::string& tooltip) { return tooltip.empty() ? "" : "<title>" + escaped_html(tooltip) + "</title>"; }

// Looks 8 to 15 have the colours of 0 to 7 under another hatch and dash.
std::size_t stroke_of(std::size_t look) { return (look + look / kNumColours) % kNumColours; }

}  // namespace

int text_width(std::string_view text) {
  int width = 0;
  for (std::size_t i = 0; i < text.size(); ++i)
    if (begins_character(text[i])) width += character_width(text.substr(i));
  return width;
}

std::string fitted(const std::string& text, int width) {
  static constexpr std::string_view kEllipsis = "\xe2\x80\xa6";
  if (text_width(text) <= width) return text;
  std::string cut;
  int taken = text_width(kEllipsis);
  for (std::size_t i = 0; i < text.size();) {
    std::size_t end = i + 1;
    while (end < text.size() && !begins_character(text[end])) ++end;
    taken += character_width(std::string_view(text).substr(i));
    if (taken > width) break;
    cut += text.substr(i, end - i);
    i = end;
  }
  return cut + std::string(kEllipsis);
}

void SvgCanvas::text(int x, int y, Anchor anchor, const std::string& text, std::string_view classes, const std::string& tooltip) {
  keep_free(box_of(x, y, anchor, text_width(text)));
  body_ += "<text" + attribute("x", std::to_string(x)) + attribute("y", std::to_string(y)) +
           class_attribute(anchor_class(anchor), classes) + ">" + title_element(tooltip) + escaped_html(text) + "</text>\n";
}

bool SvgCanvas::text_if_free(int x, int y, Anchor anchor, const std::string& text, const Box& within, std::string_view classes) {
  const Box box = box_of(x, y, anchor, text_width(text));
  const bool is_taken = std::any_of(taken_.begin(), taken_.end(), [&](const Box& other) { return overlap(box, other); });
  if (is_taken || !is_inside(box, within)) return false;
  this->text(x, y, anchor, text, classes);
  return true;
}

void SvgCanvas::path(const SvgPath& path, std::string_view classes, std::string_view attributes, const std::string& tooltip) {
  body_ += "<path" + class_attribute(classes, "") + std::string(attributes) + attribute("d", path.text());
  body_ += tooltip.empty() ? "/>\n" : ">" + title_element(tooltip) + "</path>\n";
}

void SvgCanvas::circle(int x, int y, int radius, std::string_view classes, const std::string& tooltip) {
  body_ += "<circle" + class_attribute(classes, "") + attribute("cx", std::to_string(x)) + attribute("cy", std::to_string(y)) +
           attribute("r", std::to_string(radius));
  body_ += tooltip.empty() ? "/>\n" : ">" + title_element(tooltip) + "</circle>\n";
}

std::string series_class(std::size_t series) { return "s" + std::to_string(series % kNumLooks); }

std::string series_dashes(std::size_t series) {
  static constexpr std::array<const char*, kNumColours> kDashes = {"", "14 7", "3 8", "20 6 3 6", "8 8", "26 8", "14 6 3 6 3 6", "5 4"};
  const std::string dashes = kDashes[stroke_of(series % kNumLooks)];
  return dashes.empty() ? "" : attribute("stroke-dasharray", dashes);
}

std::string series_hatch(std::size_t series) { return attribute("fill", "url(#hatch" + std::to_string(series % kNumLooks) + ")"); }

std::string hatches() {
  static constexpr std::array<const char*, kNumColours> kHatches = {"",
                                                                    "M-4 4l8-8M0 16l16-16M12 20l8-8",
                                                                    "M4 4h3v3h-3zM12 12h3v3h-3z",
                                                                    "M0 8h16",
                                                                    "M8 0v16",
                                                                    "M-4 12l8 8M0 0l16 16M12-4l8 8",
                                                                    "M0 8h16M8 0v16",
                                                                    "M0 4h16M0 12h16"};
  std::string text = "<svg class=\"hatches\" width=\"0\" height=\"0\" aria-hidden=\"true\"><defs>\n";
  for (std::size_t look = 0; look < kNumLooks; ++look) {
    text += "<pattern id=\"hatch" + std::to_string(look) + "\" width=\"16\" height=\"16\" patternUnits=\"userSpaceOnUse\"><g class=\"" +
            series_class(look) + "\"><path class=\"f\" d=\"M0 0h16v16h-16z\"/>";
    if (const std::string hatch = kHatches[stroke_of(look)]; !hatch.empty()) text += "<path class=\"h\" d=\"" + hatch + "\"/>";
    text += "</g></pattern>\n";
  }
  return text + "</defs></svg>\n";
}

}  // namespace rematch::report
