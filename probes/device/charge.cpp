#include "probes/device/charge.h"

namespace rematch::probes {

namespace {
thread_local bool charging_now = false;
}

bool charging() { return charging_now; }

ChargeScope::ChargeScope(Charge charge) : before_(charging_now) { charging_now = charge == Charge::kOn; }
ChargeScope::~ChargeScope() { charging_now = before_; }

}  // namespace rematch::probes
