// The state of a device's default generator, read and written whole. A device without one of its own (meta) has the CPU's.
#pragma once

#include <ATen/core/Tensor.h>

#include <cstdint>

namespace rematch::random {

at::Tensor read_generator(at::Device device);
// The state that a generator of this device begins with under `seed`.
at::Tensor seeded_generator(at::Device device, std::uint64_t seed);
void write_generator(at::Device device, const at::Tensor& state);

// For its lifetime the device's default generator goes on from `state`; then it is where it was before.
class GeneratorScope {
 public:
  GeneratorScope(at::Device device, const at::Tensor& state);
  ~GeneratorScope();
  GeneratorScope(const GeneratorScope&) = delete;
  GeneratorScope& operator=(const GeneratorScope&) = delete;

 private:
  at::Device device_;
  at::Tensor before_;
};

}  // namespace rematch::random
