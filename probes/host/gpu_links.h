// How a GPU is linked to others, asked of the driver's library (libnvidia-ml), which is loaded when it is there. Safe from any thread.
// Failure: what the driver does not tell is nullopt.
#pragma once

#include <optional>
#include <string>

namespace rematch::probes {

// Of the GPU at this PCI bus id, "00000000:1b:00.0": "nvlink:18" with that many active links, "pcie" with none.
std::optional<std::string> gpu_link_types(const std::string& pci_bus_id);

}  // namespace rematch::probes
