#include <array>
#include <cmath>
#include <cstdio>

#include "orchestrator/rules/audit_checks.h"

namespace rematch::rules::audit {

namespace {

std::string printed(const char* format, double value) {
  std::array<char, 64> text{};
  std::snprintf(text.data(), text.size(), format, value);
  return text.data();
}

}  // namespace

bool failed(const protocol::PublishedRow& row) { return row.outcome.kind == protocol::PublishedEnd::kOutOfMemory; }

bool may_stand(const protocol::PublishedRow& row) {
  return !failed(row) && row.recompute && (row.peak_allocated || row.step_time_ms || row.tflops_per_gpu);
}

bool is_same_view(const protocol::PublishedPeak& a, const protocol::PublishedPeak& b) {
  return a.ranks == b.ranks && a.after_iteration == b.after_iteration;
}

bool is_view_stated(const protocol::PublishedPeak& peak) { return peak.ranks && peak.after_iteration; }

bool is_same_window(const protocol::PublishedMean& a, const protocol::PublishedMean& b) {
  return a.first_iteration == b.first_iteration && a.last_iteration == b.last_iteration;
}

std::string bytes_text(double bytes) {
  const double size = std::abs(bytes);
  if (size >= 1e9) return printed("%.3f GB", bytes / 1e9);
  return size >= 1e6 ? printed("%.1f MB", bytes / 1e6) : printed("%.0f bytes", bytes);
}

std::string fraction_text(double fraction) {
  return printed(fraction != 0 && std::abs(fraction) < 1e-3 ? "%+.4f %%" : "%+.2f %%", 100 * fraction);
}

std::string digits_text(double value, std::int64_t decimal_places) {
  std::array<char, 64> text{};
  std::snprintf(text.data(), text.size(), "%.*f", static_cast<int>(decimal_places), value);
  return text.data();
}

std::string listed(const std::vector<std::string>& names) {
  std::string text;
  for (std::size_t i = 0; i < names.size(); ++i) text += (i == 0 ? "" : i + 1 == names.size() ? " and " : ", ") + names[i];
  return text;
}

}  // namespace rematch::rules::audit
