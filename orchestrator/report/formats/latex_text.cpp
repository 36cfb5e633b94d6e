#include "orchestrator/report/formats/latex_text.h"

#include <array>
#include <cstdint>
#include <cstdio>
#include <map>

namespace rematch::report {

namespace {

constexpr char32_t kReplacement = 0xFFFD;

struct Decoded {
  char32_t code_point = kReplacement;
  std::size_t num_bytes = 1;
};

// The code point that begins at `text`; one byte of what is no UTF-8 is a replacement character.
Decoded decode(std::string_view text) {
  const auto lead = static_cast<unsigned char>(text.front());
  if (lead < 0x80) return {lead, 1};
  const std::size_t num_bytes = lead >= 0xF0 ? 4 : lead >= 0xE0 ? 3 : 2;
  if (lead < 0xC2 || lead > 0xF4 || text.size() < num_bytes) return {};
  char32_t code_point = lead & (0xFFU >> (num_bytes + 1));
  for (std::size_t i = 1; i < num_bytes; ++i) {
    const auto byte = static_cast<unsigned char>(text[i]);
    if ((byte & 0xC0U) != 0x80U) return {};
    code_point = (code_point << 6U) | (byte & 0x3FU);
  }
  constexpr std::array<char32_t, 5> kSmallest = {0, 0, 0x80, 0x800, 0x10000};
  const bool is_surrogate = code_point >= 0xD800 && code_point <= 0xDFFF;
  if (code_point < kSmallest[num_bytes] || code_point > 0x10FFFF || is_surrogate) return {};
  return {code_point, num_bytes};
}

// Brackets and stars in groups: behind the end of a row they would be its argument. Quotes and signs that plain LaTeX's text font has not,
// or joins to others, from the typewriter font.
const std::map<char32_t, std::string>& known_characters() {
  static const std::map<char32_t, std::string> known = {{U'\\', "\\textbackslash{}"},
                                                        {U'{', "\\{"},
                                                        {U'}', "\\}"},
                                                        {U'$', "\\$"},
                                                        {U'&', "\\&"},
                                                        {U'#', "\\#"},
                                                        {U'%', "\\%"},
                                                        {U'_', "\\_"},
                                                        {U'~', "\\textasciitilde{}"},
                                                        {U'^', "\\textasciicircum{}"},
                                                        {U'<', "\\textless{}"},
                                                        {U'>', "\\textgreater{}"},
                                                        {U'|', "\\textbar{}"},
                                                        {U'[', "{[}"},
                                                        {U']', "{]}"},
                                                        {U'*', "{*}"},
                                                        {U'"', "{\\ttfamily\\char34}"},
                                                        {U'\'', "{\\ttfamily\\char13}"},
                                                        {U'`', "{\\ttfamily\\char18}"},
                                                        {0xA0, "~"},
                                                        {0xA7, "\\S{}"},
                                                        {0xB0, "$^\\circ$"},
                                                        {0xB1, "$\\pm$"},
                                                        {0xB5, "$\\mu$"},
                                                        {0xB7, "$\\cdot$"},
                                                        {0xD7, "$\\times$"},
                                                        {0xC4, "\\\"A"},
                                                        {0xD6, "\\\"O"},
                                                        {0xDC, "\\\"U"},
                                                        {0xE4, "\\\"a"},
                                                        {0xF6, "\\\"o"},
                                                        {0xFC, "\\\"u"},
                                                        {0xDF, "{\\ss}"},
                                                        {0xC0, "\\`A"},
                                                        {0xC8, "\\`E"},
                                                        {0xD9, "\\`U"},
                                                        {0xE0, "\\`a"},
                                                        {0xE8, "\\`e"},
                                                        {0xEC, "\\`{\\i}"},
                                                        {0xF2, "\\`o"},
                                                        {0xF9, "\\`u"},
                                                        {0xC1, "\\'A"},
                                                        {0xC9, "\\'E"},
                                                        {0xCD, "\\'I"},
                                                        {0xD3, "\\'O"},
                                                        {0xDA, "\\'U"},
                                                        {0xE1, "\\'a"},
                                                        {0xE9, "\\'e"},
                                                        {0xED, "\\'{\\i}"},
                                                        {0xF3, "\\'o"},
                                                        {0xFA, "\\'u"},
                                                        {0xC2, "\\^A"},
                                                        {0xCA, "\\^E"},
                                                        {0xCE, "\\^I"},
                                                        {0xD4, "\\^O"},
                                                        {0xDB, "\\^U"},
                                                        {0xE2, "\\^a"},
                                                        {0xEA, "\\^e"},
                                                        {0xEE, "\\^{\\i}"},
                                                        {0xF4, "\\^o"},
                                                        {0xFB, "\\^u"},
                                                        {0xCB, "\\\"E"},
                                                        {0xEB, "\\\"e"},
                                                        {0xEF, "\\\"{\\i}"},
                                                        {0xC3, "\\~A"},
                                                        {0xD1, "\\~N"},
                                                        {0xD5, "\\~O"},
                                                        {0xE3, "\\~a"},
                                                        {0xF1, "\\~n"},
                                                        {0xF5, "\\~o"},
                                                        {0xC7, "\\c{C}"},
                                                        {0xE7, "\\c{c}"},
                                                        {0xC5, "{\\AA}"},
                                                        {0xE5, "{\\aa}"},
                                                        {0xC6, "{\\AE}"},
                                                        {0xE6, "{\\ae}"},
                                                        {0xD8, "{\\O}"},
                                                        {0xF8, "{\\o}"},
                                                        {0x2013, "{--}"},
                                                        {0x2014, "{---}"},
                                                        {0x2018, "{`}"},
                                                        {0x2019, "{'}"},
                                                        {0x201C, "{``}"},
                                                        {0x201D, "{''}"},
                                                        {0x2026, "\\dots{}"},
                                                        {0x2190, "$\\leftarrow$"},
                                                        {0x2192, "$\\to$"},
                                                        {0x2212, "$-$"},
                                                        {0x2248, "$\\approx$"},
                                                        {0x2264, "$\\le$"},
                                                        {0x2265, "$\\ge$"}};
  return known;
}

std::string code_point_text(char32_t code_point) {
  std::array<char, 40> buffer{};
  std::snprintf(buffer.data(), buffer.size(), "{\\ttfamily U+%04X}", static_cast<unsigned>(code_point));
  return buffer.data();
}

std::string character_text(char32_t code_point) {
  const auto known = known_characters().find(code_point);
  if (known != known_characters().end()) return known->second;
  if (code_point < 0x20 || code_point == 0x7F) return " ";
  return code_point < 0x7F ? std::string(1, static_cast<char>(code_point)) : code_point_text(code_point);
}

bool may_break_after(char32_t code_point) { return code_point == U'/' || code_point == U'_' || code_point == U'+' || code_point == U'='; }

bool is_sign_before_number(std::string_view text, std::size_t at) {
  const auto is_digit = [&](std::size_t i) { return i < text.size() && text[i] >= '0' && text[i] <= '9'; };
  const bool begins = at == 0 || text[at - 1] == ' ' || text[at - 1] == '[';
  return text[at] == '-' && begins && is_digit(at + 1);
}

}  // namespace

std::string latex_text(std::string_view text, LineBreaks breaks) {
  std::string safe;
  for (std::size_t at = 0; at < text.size();) {
    const Decoded next = decode(text.substr(at));
    safe += is_sign_before_number(text, at) ? "$-$" : character_text(next.code_point);
    if (text.substr(at).starts_with("--")) safe += "{}";  // else the two become a dash
    if (breaks == LineBreaks::kAtSigns && may_break_after(next.code_point)) safe += "\\allowbreak{}";
    at += next.num_bytes;
  }
  return safe;
}

}  // namespace rematch::report
