/* The library's own dispatch table: every accuracy class, ISA and regime, from what was measured.
 */
#ifndef LNBENCH_CHOOSE_TABLE_H
#define LNBENCH_CHOOSE_TABLE_H

#include "commands/choose/class.h"
#include "commands/choose/measure.h"
#include "commands/choose/show.h"

/* The shapes that the table is made from: six hidden sizes, each with as many rows as fill each cache
 * in part, and DRAM, and with few rows. */
enum {
    TABLE_FEW = REGIMES,
    TABLE_REGIMES,
    TABLE_HIDDEN = 6,
    TABLE_SHAPES = TABLE_HIDDEN * TABLE_REGIMES
};
void table_shape(const machine_facts *machine, ln_type dtype, size_t index, size_t *rows,
                 size_t *hidden);
const char *table_regime(size_t index); /* "L1", "L2", "L3", "DRAM", "few" */

/* How they are timed. In the caches y is read after each call, as by the next layer: a kernel that
 * stores around them would else be taken where it harms. */
cache_state table_cache(size_t index);

/* The table's measuring: errors of all; errors without eps of what may be accurate; times of what
 * is of a class; those of DRAM in a second run, since they differ from run to run. */
typedef enum table_pass { PASS_ERRORS, PASS_BARE, PASS_TIMES, PASS_AGAIN } table_pass;

/* Whether this CPU runs the kernel and some class might have it, after the errors by the errors.
 * Peers are judged, since classes are held against them, and never chosen. */
bool table_has(const chosen *one, const kernel_entry *kernel, table_pass pass);

/* What of these shapes, all of one element type, is lacking for a pass: errors of any kernel, or
 * times of one that the table has. lacks: room for `count`; returns how many there are. */
size_t table_lacks(const chosen *all, size_t count, const kernel_list *kernels, table_pass pass,
                   choose_lack *lacks);

/* Measures what is lacking, each cache state in a run of its own and its part of the time. */
bool table_measure(const choose_meter *meter, const choose_lack *lacks, size_t count,
                   const word_list *kernels, table_pass pass, error *err);

/* The table of all[0..count-1], TABLE_SHAPES of each element type, as C: see the head comment that
 * it writes. For each ISA it takes the fastest kernel of the class among those of that ISA and
 * lesser ones. Where none is of the class there is no row. False with an error: memory, or nothing
 * at all to write (5). */
bool chosen_emit_table(chosen *all, size_t count, const char *command_line, text_buffer *out,
                       error *err);

#endif
