// schemas/VIEWS.md, embedded at build time: what each view's columns mean. Pure.
#pragma once

#include <string>

namespace rematch::store {

std::string view_documents();

}  // namespace rematch::store
