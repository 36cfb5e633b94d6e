#include "orchestrator/report/cell_text.h"

#include <array>
#include <cstdio>

#include "orchestrator/report/bytes_text.h"

namespace rematch::report {

namespace {

std::string printed(const char* format, double value) {
  std::array<char, 64> buffer{};
  std::snprintf(buffer.data(), buffer.size(), format, value);
  return buffer.data();
}

struct CellText {
  ByteUnits units;
  std::string operator()(std::monostate) const { return "-"; }
  std::string operator()(const std::string& text) const { return text; }
  std::string operator()(Count count) const { return std::to_string(count.value); }
  std::string operator()(Bytes bytes) const { return bytes_text(bytes.value, units); }
  std::string operator()(BytesDelta bytes) const { return bytes_text(bytes.value, units, Sign::kAlways); }
  std::string operator()(Nanoseconds time) const { return base::milliseconds_text(time.value); }
  std::string operator()(PlainGigabytes bytes) const { return printed("%.3f", static_cast<double>(bytes.value) * 1e-9); }
  std::string operator()(PlainMilliseconds time) const { return printed("%.2f", time.value * 1e-6); }
  std::string operator()(Number number) const { return printed("%.3g", number.value); }
  std::string operator()(Hours time) const { return printed("%.4g h", time.value); }
  std::string operator()(Teraflops rate) const { return printed(rate.value < 1 ? "%.4f" : "%.2f", rate.value); }
  std::string operator()(Fraction fraction) const { return printed("%.2f %%", fraction.value * 100); }
  std::string operator()(FractionDelta fraction) const { return printed("%+.2f %%", fraction.value * 100); }
};

}  // namespace

std::string display_text(const Cell& cell, ByteUnits units) { return std::visit(CellText{units}, cell); }

}  // namespace rematch::report
