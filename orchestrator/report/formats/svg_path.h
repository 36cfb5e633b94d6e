// The `d` of an SVG path: whole coordinates, relative commands, steps in one direction joined. Pure.
#pragma once

#include <string>

namespace rematch::report {

class SvgPath {
 public:
  void move_to(int x, int y);
  void line_to(int x, int y);
  void close();
  // A path without a line is a dot under round caps.
  std::string text() const;

 private:
  void flush();

  std::string text_;
  int x_ = 0;  // where what is written ends
  int y_ = 0;
  int next_x_ = 0;  // the end of a line that may still grow
  int next_y_ = 0;
  int start_x_ = 0;
  int start_y_ = 0;
  bool has_line_ = true;  // since the last move
};

}  // namespace rematch::report
