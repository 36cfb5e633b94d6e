// One verb of `rematch`: declares its options on a CLI11 subcommand and carries itself out. One file a verb; each registers itself.
// Called by main.cpp on one thread. run() returns the exit code of product.md's table; what it cannot survive it throws.
#pragma once

#include <filesystem>
#include <iosfwd>
#include <memory>
#include <optional>
#include <string>
#include <vector>

namespace CLI {
class App;
}

namespace rematch::cli {

// Exit codes of `rematch`; the README documents them.
enum class Exit : int {
  kOk = 0,
  kInternal = 1,
  kUsage = 2,
  kSweepInvalid = 3,
  kCandidateFailed = 4,  // in an unexpected way: an out-of-memory candidate is expected
  kNoneMeetsBudget = 5,
  kControlInvalid = 6,  // the control is not a control, or failed otherwise than by memory
  kComparisonRefused = 7,
  kEnvironment = 8,
  kGateFired = 9,     // of --fail-on, where the exit were 0 without it
  kInterrupted = 75,  // run again to go on
  kTimeLimit = 124,
};

struct GlobalOptions {
  std::filesystem::path workspace = "rematch-runs";
  std::optional<std::filesystem::path> trainer;  // --trainer, else REMATCH_TRAINER, else rematch-train beside rematch, else PATH
  int verbosity = 0;                             // -v adds one, -q subtracts one
  std::string color = "auto";                    // auto | always | never
};

// Data goes to out, all else to err.
struct Streams {
  std::ostream& out;
  std::ostream& err;
};

class Verb {
 public:
  virtual ~Verb() = default;
  virtual std::string name() const = 0;
  virtual std::string summary() const = 0;  // one line for the command list
  virtual void declare(CLI::App& app) = 0;  // options and examples of the subcommand
  virtual Exit run(const GlobalOptions& options, Streams streams) = 0;
};

// The verbs in order of name. A file registers its verb with a namespace-scope `VerbRegistrar<PlanVerb> registrar;`.
std::vector<Verb*> all_verbs();
void register_verb(std::unique_ptr<Verb> verb);

template <typename V>
struct VerbRegistrar {
  VerbRegistrar() { register_verb(std::make_unique<V>()); }
};

}  // namespace rematch::cli
