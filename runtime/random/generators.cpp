#include "runtime/random/generators.h"

#include <ATen/CPUGeneratorImpl.h>
#include <ATen/Context.h>

#include <mutex>

#include "probes/device/charge.h"

namespace rematch::random {

namespace {

at::Generator generator_of(at::Device device) {
  return at::globalContext().defaultGenerator(device.is_cuda() ? device : at::Device(at::kCPU));
}

}  // namespace

at::Tensor read_generator(at::Device device) {
  const probes::ScratchScope scratch;
  auto generator = generator_of(device);
  const std::lock_guard lock(generator.mutex());
  return generator.get_state();
}

at::Tensor seeded_generator(at::Device device, std::uint64_t seed) {
  const probes::ScratchScope scratch;
  auto generator = generator_of(device).clone();
  generator.set_current_seed(seed);
  return generator.get_state();
}

void write_generator(at::Device device, const at::Tensor& state) {
  auto generator = generator_of(device);
  const std::lock_guard lock(generator.mutex());
  generator.set_state(state);
}

GeneratorScope::GeneratorScope(at::Device device, const at::Tensor& state) : device_(device), before_(read_generator(device)) {
  write_generator(device, state);
}

GeneratorScope::~GeneratorScope() { write_generator(device_, before_); }

}  // namespace rematch::random
