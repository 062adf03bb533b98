/* The table of cases that were run again, as `replay` and `report --verify` print it. */
#ifndef LNBENCH_COMMANDS_REPLAY_H
#define LNBENCH_COMMANDS_REPLAY_H

#include "base/relation.h"
#include "run/replay.h"

relation *replayed_relation(void);
/* class: of the kernel's reproducibility, as domain/reproducible.h has it. */
void replayed_row(relation *rows, const char *what, const char *kernel, const char *convention,
                  size_t hidden, const char *class, const replay_result *result);

/* Why a kernel cannot be run: printf(KERNEL_IS_MISSING, name). */
#define KERNEL_IS_MISSING                                                                          \
    "kernel %s is not here: if it came from a plugin, name it with --plugin; peers need "          \
    "LNBENCH_PEERS=1 when lnbench is built"

#endif
