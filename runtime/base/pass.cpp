#include "runtime/base/pass.h"

#include <atomic>

namespace rematch::base {

namespace {
std::atomic<protocol::Pass> current_pass{protocol::Pass::kUpdate};
}

protocol::Pass open_pass() { return current_pass; }

PassScope::PassScope(protocol::Pass pass) : before_(current_pass.exchange(pass)) {}
PassScope::~PassScope() { current_pass = before_; }

}  // namespace rematch::base
