// Which format a name and a file mean, and what LaTeX text is made of odd characters.
#include <gtest/gtest.h>

#include <algorithm>

#include "orchestrator/report/format.h"
#include "orchestrator/report/formats/latex_text.h"

namespace rematch::report {
namespace {

TEST(FormatNames, AFileHasTheFormatOfItsExtension) {
  for (const std::string& format : format_names()) EXPECT_EQ(format_of_file("a.b/report." + format_extension(format)).value(), format);
  EXPECT_EQ(format_of_file("table.TEX").value(), "latex");
  EXPECT_EQ(format_of_file("v1.2/report").value(), "md") << "a dot of a folder is no extension";
  EXPECT_EQ(format_of_file(".report").value(), "md");
}

TEST(FormatNames, AnUnknownExtensionIsRefusedWithTheKnownOnes) {
  const auto unknown = format_of_file("report.pdf");
  ASSERT_FALSE(unknown);
  EXPECT_EQ(unknown.error().message,
            "no report format has files that end in '.pdf'; there are: .csv, .html, .json, .jsonl, .tex, .md; or name the format with -f");
}

TEST(FormatNames, LatexIsCalledTexToo) {
  EXPECT_EQ(format_extension("latex"), "tex");
  EXPECT_EQ(render(ReportModel{}, "tex").value(), render(ReportModel{}, "latex").value());
  const auto names = accepted_format_names();
  EXPECT_EQ(std::count(names.begin(), names.end(), "tex"), 1);
}

TEST(LatexText, WritesWhatLatexReadsAsACommandSoThatItPrintsItself) {
  EXPECT_EQ(latex_text("a_b 5% #1 {x} $2 & ~^\\"),
            "a\\_b 5\\% \\#1 \\{x\\} \\$2 \\& \\textasciitilde{}\\textasciicircum{}\\textbackslash{}");
  EXPECT_EQ(latex_text("[] *"), "{[}{]} {*}") << "behind the end of a row they would be its argument";
  EXPECT_EQ(latex_text("--json -1.5 a-b"), "-{}-json $-$1.5 a-b") << "two hyphens are no dash, and a sign is no hyphen";
  EXPECT_EQ(latex_text("line\nline\ttab\x01"), "line line tab ");
}

TEST(LatexText, PrintsLettersThatPlainLatexHasAndTheCodePointOfOthers) {
  EXPECT_EQ(latex_text("\xC3\xA4\xC3\x9F"), "\\\"a{\\ss}");
  EXPECT_EQ(latex_text("\xE6\x97\xA5"), "{\\ttfamily U+65E5}");
  EXPECT_EQ(latex_text("\xF0\x9F\x9A\x80"), "{\\ttfamily U+1F680}");
  EXPECT_EQ(latex_text("\xFF\xC3"), "{\\ttfamily U+FFFD}{\\ttfamily U+FFFD}") << "no UTF-8";
  EXPECT_EQ(latex_text("\xC0\xAF"), "{\\ttfamily U+FFFD}{\\ttfamily U+FFFD}") << "a slash in two bytes is no UTF-8";
}

TEST(LatexText, BreaksLinesBehindSignsWhereAsked) {
  EXPECT_EQ(latex_text("a/b", LineBreaks::kAtSigns), "a/\\allowbreak{}b");
  EXPECT_EQ(latex_text("a/b"), "a/b");
}

}  // namespace
}  // namespace rematch::report
