// What `show` and `report` both do first: open the workspace's database and load one study. Problems go to streams.err.
#pragma once

#include <string>
#include <variant>

#include "orchestrator/base/rows.h"
#include "orchestrator/cli/verb.h"
#include "orchestrator/store/store.h"

namespace rematch::cli {

// kEnvironment: no database, or one of a newer program.
std::variant<store::Store, Exit> open_store(const GlobalOptions& options, Streams streams);

// `key` is a name, an id or an unambiguous prefix; empty for the only study of the workspace. The Exit says why there is none: kEnvironment
// (no database, or one of a newer program), kUsage (no such study, or several).
std::variant<base::StudyRows, Exit> load_study(const std::string& key, const GlobalOptions& options, Streams streams);

}  // namespace rematch::cli
