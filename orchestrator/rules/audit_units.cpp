// Check: a figure in another unit than it says, where something else of the table is evidence for it: a printed difference that fits only
// then, a product that is off by such a factor, a peak beyond the memory of the device or beyond what was reserved.
#include <array>
#include <cctype>
#include <cmath>
#include <cstdlib>
#include <string_view>

#include "orchestrator/rules/audit_checks.h"
#include "orchestrator/rules/published_match.h"

namespace rematch::rules::audit {

namespace {

using protocol::Published;
using protocol::PublishedBytes;
using protocol::PublishedDelta;
using protocol::PublishedRow;

constexpr double kGiga = 1.073741824;  // 2^30 / 1e9
constexpr double kMega = 1.048576;     // 2^20 / 1e6

// What the number would be worth in the unit that is mixed up with its own.
struct OtherUnit {
  double factor = 1;
  std::string name;
};

OtherUnit other_unit(const std::string& as_published) {
  const std::string unit = as_published.substr(as_published.find(' ') + 1);
  if (unit == "GB") return {kGiga, "GiB"};
  if (unit == "GiB") return {1 / kGiga, "GB"};
  if (unit == "MB") return {kMega, "MiB"};
  return {1 / kMega, "MB"};
}

struct DeltaSides {
  PrintedRange own;
  PrintedRange against;
};

bool fits(const PublishedDelta& delta, const DeltaSides& sides) {
  if (delta.percent) {
    const auto recomputed = ratio_less_one(sides.own, sides.against);
    if (!recomputed || !overlap(scaled(printed_range(*delta.percent, *delta.decimal_places), 0.01), *recomputed)) return false;
  }
  return !delta.magnitude || overlap(printed_range(*delta.magnitude), magnitude(sides.own, sides.against));
}

AuditFinding unit_finding(const std::string& subject, const PublishedBytes& figure, const OtherUnit& other, const std::string& evidence) {
  const double bytes = static_cast<double>(figure.bytes) * other.factor;
  return {"units",
          subject,
          AuditSeverity::kWarning,
          figure.as_published,
          bytes_text(bytes),
          evidence + " fits if " + figure.as_published + " is in " + other.name};
}

// Of a difference that its figures do not give.
void explain(const PublishedRow& row, const PublishedRow& against, const PublishedDelta& delta, Findings& findings) {
  const PublishedBytes& own = row.peak_allocated->figure;
  const PublishedBytes& base = against.peak_allocated->figure;
  const DeltaSides sides{printed_range(own), printed_range(base)};
  if (fits(delta, sides)) return;
  const std::string evidence = "the printed difference of " + name_of(row) + " and " + name_of(against);
  const OtherUnit of_own = other_unit(own.as_published);
  const OtherUnit of_base = other_unit(base.as_published);
  if (fits(delta, {scaled(sides.own, of_own.factor), sides.against})) findings.push_back(unit_finding(name_of(row), own, of_own, evidence));
  if (fits(delta, {sides.own, scaled(sides.against, of_base.factor)}))
    findings.push_back(unit_finding(name_of(against), base, of_base, evidence));
  if (!delta.magnitude) return;
  const OtherUnit of_magnitude = other_unit(delta.magnitude->as_published);
  if (overlap(scaled(printed_range(*delta.magnitude), of_magnitude.factor), magnitude(sides.own, sides.against)))
    findings.push_back(unit_finding(name_of(row), *delta.magnitude, of_magnitude, evidence));
}

bool is_digit(char c) { return c >= '0' && c <= '9'; }

// The number before `unit`, an offset into the text; nullopt: none.
std::optional<double> number_before(const std::string& text, std::size_t unit) {
  std::size_t end = unit;
  while (end > 0 && text[end - 1] == ' ') --end;
  std::size_t begin = end;
  while (begin > 0 && (is_digit(text[begin - 1]) || text[begin - 1] == '.')) --begin;
  if (begin == end) return std::nullopt;
  return std::strtod(text.substr(begin, end - begin).c_str(), nullptr);
}

// Neither the beginning of a product's name ("GB200") nor a rate ("3350 GB/s").
bool ends_word(const std::string& text, std::size_t end) {
  return end >= text.size() || (std::isalnum(static_cast<unsigned char>(text[end])) == 0 && text[end] != '/');
}

// "80GB" of "8 H100 80GB": what a device is sold with, of which GB may be GiB. nullopt: the text names no such number.
std::optional<double> device_bytes(const std::string& hardware) {
  for (std::size_t at = hardware.find('G'); at != std::string::npos; at = hardware.find('G', at + 1))
    for (const std::string_view unit : {"GB", "GiB"}) {
      if (hardware.compare(at, unit.size(), unit) != 0 || !ends_word(hardware, at + unit.size())) continue;
      if (const auto number = number_before(hardware, at)) return *number * 1e9 * kGiga;
    }
  return std::nullopt;
}

void check_device(const PublishedRow& row, std::optional<double> device, Findings& findings) {
  if (!device || !row.peak_allocated || printed_range(row.peak_allocated->figure).low <= *device) return;
  findings.push_back({"units", name_of(row), AuditSeverity::kContradicted, row.peak_allocated->figure.as_published, bytes_text(*device),
                      "more than a device of the stated hardware has: another unit, or not of one device"});
}

void check_reserved(const PublishedRow& row, Findings& findings) {
  if (!row.peak_allocated || !row.peak_reserved) return;
  const PublishedBytes& allocated = row.peak_allocated->figure;
  const PublishedBytes& reserved = row.peak_reserved->figure;
  if (printed_range(allocated).low <= printed_range(reserved).high) return;
  const OtherUnit other = other_unit(allocated.as_published);
  const bool explained = other.factor < 1 && printed_range(allocated).low * other.factor <= printed_range(reserved).high;
  findings.push_back(
      {"units", name_of(row), AuditSeverity::kContradicted, allocated.as_published, reserved.as_published,
       std::string("more is allocated than reserved") + (explained ? ", unless " + allocated.as_published + " is in " + other.name : "")});
}

struct Factor {
  double factor;
  const char* words;
};

}  // namespace

std::string unit_mix_up(double factor, std::int64_t world_size) {
  const std::array factors = {
      Factor{1e3, "the step time were in microseconds, or the throughput in GFLOP/s"},
      Factor{1e-3, "the step time were in seconds, or the throughput in PFLOP/s"},
      Factor{static_cast<double>(world_size), "the throughput were of all GPUs together"},
      Factor{1 / static_cast<double>(world_size), "the throughput were divided by the number of GPUs twice"},
      Factor{kGiga, "giga were 2^30 in one of the two"},
      Factor{1 / kGiga, "giga were 2^30 in one of the two"},
      Factor{kGiga * 1.024, "tera were 2^40 in one of the two"},
      Factor{1 / (kGiga * 1.024), "tera were 2^40 in one of the two"},
  };
  for (const Factor& known : factors)
    if (known.factor != 1 && factor > known.factor * 0.995 && factor < known.factor * 1.015) return known.words;
  return "";
}

Findings byte_unit_findings(const Published& published) {
  Findings findings;
  const std::optional<double> device = device_bytes(published.source.hardware);
  for (const PublishedRow& row : published.rows) {
    check_device(row, device, findings);
    check_reserved(row, findings);
    for (const PublishedDelta& delta : row.deltas) {
      const PublishedRow* against = protocol::find_row(published, delta.against);
      if (delta.of == "peak_allocated" && row.peak_allocated && against != nullptr && against->peak_allocated)
        explain(row, *against, delta, findings);
    }
  }
  return findings;
}

}  // namespace rematch::rules::audit
