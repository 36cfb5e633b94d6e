// Interval arithmetic of printed figures: a figure stands for every value that rounds to it. Pure.
#pragma once

#include <string>

#include "schemas/protocol/published.h"

namespace rematch::rules {

// low <= value <= high. Half a unit of the last digit to either side; a whole one of a figure that is "about".
struct PrintedRange {
  double value = 0;
  double low = 0;
  double high = 0;
};

PrintedRange printed_range(const protocol::PublishedBytes& figure);  // bytes
PrintedRange printed_range(const protocol::PublishedMean& figure);   // in its own unit
PrintedRange printed_range(double value, std::int64_t decimal_places);

// As the source printed it, with its digits: more would claim what it does not say. "about 704 TFLOP/s"; without a unit the number alone.
std::string printed_text(const protocol::PublishedBytes& figure);
std::string printed_text(const protocol::PublishedMean& figure, const std::string& unit);

PrintedRange scaled(const PrintedRange& range, double factor);         // factor > 0
PrintedRange product(const PrintedRange& a, const PrintedRange& b);    // of values that are not negative
PrintedRange magnitude(const PrintedRange& a, const PrintedRange& b);  // |a - b|
// a / b - 1; nullopt when b may be 0.
std::optional<PrintedRange> ratio_less_one(const PrintedRange& a, const PrintedRange& b);
bool overlap(const PrintedRange& a, const PrintedRange& b);

}  // namespace rematch::rules
