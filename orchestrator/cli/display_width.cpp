#include "orchestrator/cli/display_width.h"

#include <algorithm>
#include <array>
#include <cstddef>
#include <cstdint>

namespace rematch::cli {

namespace {

struct Range {
  std::uint32_t first;
  std::uint32_t last;
};

constexpr std::array kWide = {Range{0x1100, 0x115F},   Range{0x2E80, 0xA4CF},  Range{0xAC00, 0xD7A3}, Range{0xF900, 0xFAFF},
                              Range{0xFE30, 0xFE6F},   Range{0xFF00, 0xFF60},  Range{0xFFE0, 0xFFE6}, Range{0x1F300, 0x1F64F},
                              Range{0x1F900, 0x1F9FF}, Range{0x20000, 0x3FFFD}};
constexpr std::array kNoWidth = {Range{0x0300, 0x036F}, Range{0x200B, 0x200F}, Range{0x20D0, 0x20FF}, Range{0xFE00, 0xFE0F}};

template <std::size_t Size>
bool is_in(const std::array<Range, Size>& ranges, std::uint32_t code) {
  return std::any_of(ranges.begin(), ranges.end(), [&](const Range& range) { return code >= range.first && code <= range.last; });
}

struct Character {
  std::size_t num_bytes = 1;
  int num_columns = 1;
};

std::size_t length_of(unsigned char lead) {
  if (lead < 0x80) return 1;
  if ((lead & 0xE0U) == 0xC0U) return 2;
  if ((lead & 0xF0U) == 0xE0U) return 3;
  return (lead & 0xF8U) == 0xF0U ? 4 : 1;
}

// The first character of a text that is not empty.
Character first_of(std::string_view text) {
  const auto lead = static_cast<unsigned char>(text.front());
  const std::size_t length = length_of(lead);
  if (length == 1 || text.size() < length) return {};
  std::uint32_t code = lead & (0xFFU >> (length + 1));
  for (std::size_t i = 1; i < length; ++i) {
    const auto next = static_cast<unsigned char>(text[i]);
    if ((next & 0xC0U) != 0x80U) return {};
    code = (code << 6U) | (next & 0x3FU);
  }
  return {length, is_in(kNoWidth, code) ? 0 : is_in(kWide, code) ? 2 : 1};
}

// As many whole characters from the beginning as fit.
std::string_view fitting(std::string_view text, int num_columns) {
  std::size_t end = 0;
  while (end < text.size()) {
    const Character character = first_of(text.substr(end));
    num_columns -= character.num_columns;
    if (num_columns < 0) break;
    end += character.num_bytes;
  }
  return text.substr(0, end);
}

}  // namespace

int display_width(std::string_view text) {
  int width = 0;
  while (!text.empty()) {
    const Character character = first_of(text);
    width += character.num_columns;
    text.remove_prefix(character.num_bytes);
  }
  return width;
}

std::string cut_to_width(std::string_view text, int num_columns) {
  constexpr std::string_view kCut = "...";
  constexpr int kCutWidth = 3;
  if (display_width(text) <= num_columns) return std::string(text);
  if (num_columns <= kCutWidth) return std::string(fitting(text, num_columns));
  return std::string(fitting(text, num_columns - kCutWidth)) + std::string(kCut);
}

std::string on_one_line(std::string_view text) {
  std::string line(text);
  std::replace_if(
      line.begin(), line.end(), [](char c) { return static_cast<unsigned char>(c) < 0x20 || c == 0x7F; }, ' ');
  return line;
}

}  // namespace rematch::cli
