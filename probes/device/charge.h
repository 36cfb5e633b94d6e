// Which of this thread's allocations are charged to the modelled device.
// The trainer's main thread runs charged; communication threads do not. A ScratchScope marks memory that the modelled kernel would not
// have: fp32 copies behind a bf16 GEMM, tiles of fused attention, host-side bookkeeping. On cuda both scopes change nothing.
#pragma once

namespace rematch::probes {

bool charging();

// Restores the former state when it ends. Scopes nest; each belongs to the thread that made it.
class ChargeScope {
 public:
  ~ChargeScope();
  ChargeScope(const ChargeScope&) = delete;
  ChargeScope& operator=(const ChargeScope&) = delete;

 protected:
  enum class Charge { kOn, kOff };
  explicit ChargeScope(Charge charge);

 private:
  bool before_;
};

class DeviceScope : public ChargeScope {
 public:
  DeviceScope() : ChargeScope(Charge::kOn) {}
};

class ScratchScope : public ChargeScope {
 public:
  ScratchScope() : ChargeScope(Charge::kOff) {}
};

}  // namespace rematch::probes
