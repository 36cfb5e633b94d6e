#include <array>

#include "orchestrator/report/pages.h"

namespace rematch::report {

namespace {

constexpr std::array kPages = {
    Page{"pass", "The run did all that was asked of it: its figures may be used. An arm passes when all its judged runs do.",
         "No failure; every rank's record whole; the optimizer's state made on every rank; enough steps after warm-up; losses and gradient "
         "norms "
         "finite, no step skipped; the peak on its plateau; losses equal to the reference's to the bit.",
         "Read its memory and time verdicts; `rematch show ARM` has each condition with its figures."},
    Page{"fail", "A failure, or a condition of a pass that was not held. It carries no figures.",
         "By the launch record and the records of the ranks, or by the first condition that was not held.",
         "`rematch show ARM` places the failure; `rematch diagnose ARM` looks for a cause; `rematch logs ARM` has what the ranks printed."},
    Page{"borderline", "Some repeats pass and some fail: the arm stands at the edge of what fits.",
         "At least one judged run passed and at least one did not. The figures are those of the passing repeats; it is never the answer.",
         "Add blocks to know its pass rate better, or take an arm with a lower peak."},
    Page{"inactive", "The label does nothing in this model: there is nothing to measure.",
         "The trainer has no region for it, no rank wrapped one, or none that was wrapped was ever replayed.",
         "Leave the label out; `rematch explain LABEL` says which layers have a region of it."},
    Page{"invalid", "It may not be run, or is not what it is called: a setting that a rule refuses, or a control that recomputes.",
         "By a compatibility rule before launch, or because a control resolved to a list that is not empty or replayed something.",
         "`rematch explain RULE` says what the rule asks for; change the feature or leave the arm out."},
    Page{"skipped", "The strategy left the arm out: it was not needed for the answer. Nothing is known of it.",
         "By a decision of the strategy, with its reason, after a round of results.",
         "`--set strategy.kind=one_label` measures every arm."},
    Page{"interrupted", "The attempt was stopped from outside before it could come to its end. It is kept and not counted.",
         "A signal to the controller, a time limit, or a pre-emption ended it.", "Run the study again: it goes on where it stopped."},
    Page{"lost", "The attempt vanished without a word of how it ended. It is kept and not counted.",
         "Its supervisor or its node is gone and left no launch record.",
         "Run the study again; `rematch doctor` looks for what is left over."},
    Page{"not-run", "No attempt of it was started yet.", "The plan has its trials, and no folder has an attempt of them.",
         "`rematch run SWEEP` starts them."},
};

}  // namespace

std::span<const Page> outcome_pages() { return kPages; }

}  // namespace rematch::report
