#include "orchestrator/report/formats/svg_path.h"

#include <cstdint>

namespace rematch::report {

namespace {

// Of two numbers: a minus sign parts them by itself.
std::string pair_text(int first, int second) { return std::to_string(first) + (second < 0 ? "" : " ") + std::to_string(second); }

// Whether b goes on where a points to, neither turning nor turning back.
bool goes_on(std::int64_t ax, std::int64_t ay, std::int64_t bx, std::int64_t by) { return ax * by == ay * bx && ax * bx + ay * by > 0; }

}  // namespace

void SvgPath::move_to(int x, int y) {
  flush();
  if (!has_line_) text_ += "h0";
  text_ += text_.empty() ? "M" + pair_text(x, y) : "m" + pair_text(x - x_, y - y_);
  x_ = next_x_ = start_x_ = x;
  y_ = next_y_ = start_y_ = y;
  has_line_ = false;
}

void SvgPath::line_to(int x, int y) {
  if (x == next_x_ && y == next_y_) return;
  if (!goes_on(next_x_ - x_, next_y_ - y_, x - next_x_, y - next_y_)) flush();
  next_x_ = x;
  next_y_ = y;
}

void SvgPath::close() {
  flush();
  text_ += 'z';
  x_ = next_x_ = start_x_;
  y_ = next_y_ = start_y_;
  has_line_ = true;
}

std::string SvgPath::text() const {
  SvgPath whole = *this;
  whole.flush();
  return whole.has_line_ ? whole.text_ : whole.text_ + "h0";
}

void SvgPath::flush() {
  const int dx = next_x_ - x_;
  const int dy = next_y_ - y_;
  if (dx == 0 && dy == 0) return;
  if (dy == 0)
    text_ += "h" + std::to_string(dx);
  else if (dx == 0)
    text_ += "v" + std::to_string(dy);
  else
    text_ += "l" + pair_text(dx, dy);
  x_ = next_x_;
  y_ = next_y_;
  has_line_ = true;
}

}  // namespace rematch::report
