// What the step is doing, for what is counted by pass. One value a process: backward may run on another thread than forward, but never at
// the same time.
#pragma once

#include "schemas/protocol/communication.h"

namespace rematch::base {

protocol::Pass open_pass();

class PassScope {
 public:
  explicit PassScope(protocol::Pass pass);
  ~PassScope();
  PassScope(const PassScope&) = delete;
  PassScope& operator=(const PassScope&) = delete;

 private:
  protocol::Pass before_;
};

}  // namespace rematch::base
