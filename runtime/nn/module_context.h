// What every module of the model is built with.
#pragma once

#include "runtime/mesh/mesh.h"
#include "runtime/nn/parameter.h"
#include "runtime/recompute/policy.h"

namespace rematch::nn {

// All outlive the module.
struct ModuleContext {
  const mesh::Mesh& mesh;
  ParameterStore& store;
  recompute::Policy& policy;
};

}  // namespace rematch::nn
