// What the kinds of plots draw on: marks and texts of an SVG, with the room that each text takes. Pure; the font is not known, so widths
// are those of a wide one.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "orchestrator/report/formats/svg_path.h"

namespace rematch::report {

inline constexpr int kSvgWidth = 880;  // two units a pixel of a small screen
inline constexpr int kSvgText = 26;    // font size
inline constexpr int kSvgLine = 34;    // from one line of text to the next

struct Box {
  int left = 0;
  int top = 0;
  int right = 0;
  int bottom = 0;
};

enum class Anchor { kStart, kMiddle, kEnd };

int text_width(std::string_view text);  // of a weight that is not bold
// Cut at its end, with an ellipsis, when it is wider.
std::string fitted(const std::string& text, int width);

class SvgCanvas {
 public:
  // y: of the base line. `classes` may be empty.
  void text(int x, int y, Anchor anchor, const std::string& text, std::string_view classes = "", const std::string& tooltip = "");
  // Only where no text stands and inside of `within`; false: nothing is drawn.
  bool text_if_free(int x, int y, Anchor anchor, const std::string& text, const Box& within, std::string_view classes = "");
  // `attributes` with a leading space each; a tooltip is shown under the mouse, all of them can be read elsewhere.
  void path(const SvgPath& path, std::string_view classes, std::string_view attributes = "", const std::string& tooltip = "");
  void circle(int x, int y, int radius, std::string_view classes, const std::string& tooltip = "");
  // A place where no text may stand.
  void keep_free(const Box& box) { taken_.push_back(box); }

  const std::string& body() const { return body_; }

 private:
  std::string body_;
  std::vector<Box> taken_;
};

// The look of a series: its colour's class, and dashes or a hatch as an attribute, since colours alone tell nothing to some.
std::string series_class(std::size_t series);
std::string series_dashes(std::size_t series);
std::string series_hatch(std::size_t series);  // of areas
// Once a document: what series_hatch() refers to.
std::string hatches();

}  // namespace rematch::report
