// Gives a block another tag after its allocation: the outputs of a region whose consumers keep them belong to what surrounds it.
// Threads: any. Failure: none; memory that the device does not track stays as it is.
#pragma once

#include "probes/allocator/tag.h"

namespace c10 {
class DataPtr;
}

namespace rematch::probes {

// The block that `data` owns gets the tag that is open on this thread.
void retag_as_open(const c10::DataPtr& data);

// How the process's one device does it; set when the device is made.
using RetagFunction = void (*)(const c10::DataPtr& data, TagId tag);
void set_retag_function(RetagFunction retag);

}  // namespace rematch::probes
