/* Judges the library's calls in the cells of its dispatch table, on every input family:
 *
 *     judge_cells ISA SEED                              all cells of an ISA
 *     judge_cells ISA SEED CALL HIDDEN PLACE            one: avx2 1 library_fast_f32 64 few
 *     judge_cells --table     the row ULP promised of each class and type; the cells of the table
 *
 * A place is few (1 to 3 rows), caches or memory. A line has call, ISA, hidden, place, kernel, the largest row
 * ULP, its family, the seed. LNBENCH_WORKER and LNBENCH_LIBRARY say what runs. Exit codes are those of lnbench; 5: a
 * cell breaks its promise. */
#include "base/arena.h"
#include "domain/kernel.h"
#include "conformance/internal.h"
#include "inputs/inputs.h"
#include "worker/worker.h"
#include "dispatch/dispatch_table.h"
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { CELL_ROWS = 18, NAME_LENGTH = 64 };
enum { PAIRS = 7, SIZES = 6, CLASSES = LN_ACCURACY_EXACT + 1, TYPES = LN_F16 + 1 };

static const char *const classes[CLASSES] = {"fast", "accurate", "reproducible", "exact"};
static const char *const places[CALL_PLACES] = {"", "few", "caches", "memory"};
static const size_t sizes[SIZES] = {64, 256, 768, 1024, 4096, 12288};
static const ln_type pairs[PAIRS][2] = {{LN_F32, LN_F32},   {LN_F64, LN_F64},  {LN_F64, LN_F32},
                                        {LN_BF16, LN_BF16}, {LN_BF16, LN_F32}, {LN_F16, LN_F16},
                                        {LN_F16, LN_F32}};
static const struct {
    const char *name, *without; /* what hides the better ones */
} isas[] = {{"avx512bf16", ""},
            {"avx512", "avx512bf16"},
            {"avx2", "avx512"},
            {"scalar", "avx512,avx2"},
            {"neon", ""}};
enum { ISAS = sizeof isas / sizeof *isas };
static const ln_convention pytorch = {
    .eps_place = LN_EPS_VAR, .eps = 1e-5, .affine = LN_AFFINE_VECTOR};

static const struct row {
    const char *class, *storage, *param, *isa;
    ln_when when;
    const char *kernel;
} table[] = {
#define ROW(class, storage, param, isa, when, kernel)                                              \
    {#class, #storage, #param, #isa, LN_WHEN_##when, kernel},
    LN_LAYERNORM_ROWS(ROW)};
enum { ROWS = sizeof table / sizeof *table };

/* The worker and the judge, and rows of every family of one hidden size and pair of types. */
typedef struct bench {
    const char *isa, *seed;
    worker_process *worker;
    kernel_list kernels;
    row_judge *judge;
    judge_block *blocks; /* one for each family, then one with a residual for some */
    size_t count;
    ln_type storage, param;
    size_t hidden;
} bench;

/* All families, then those that every convention is judged on, with a residual. */
static const char *family_of(size_t index, bool *residual)
{
    size_t count, which = 0;
    const input_family *family = input_families(&count);
    *residual = index >= count;
    if (!*residual)
        return family[index].name;
    for (size_t left = index - count; !family[which].everywhere || left-- > 0;)
        which++;
    return family[which].name;
}

static size_t count_blocks(void)
{
    size_t count, residual = 0;
    const input_family *family = input_families(&count);
    for (size_t i = 0; i < count; i++)
        residual += family[i].everywhere;
    return count + residual;
}

/* "few rows: blocks", "memory: normal with a residual". */
static const char *name_cell(size_t index, call_place place, char name[NAME_LENGTH])
{
    static const char *const words[CALL_PLACES] = {"", "few rows", "caches", "memory"};
    bool residual;
    const char *family = family_of(index, &residual);
    snprintf(name, NAME_LENGTH, "%s: %.30s%s", words[place], family,
             residual ? " with a residual" : "");
    return name;
}

static void drop_rows(bench *at)
{
    for (size_t i = 0; i < at->count; i++)
        judge_block_free(&at->blocks[i]);
    free(at->blocks);
    at->blocks = NULL;
    at->count = 0;
}

static void make_rows(bench *at, ln_type storage, ln_type param, size_t hidden)
{
    const judge_settings as = {
        .seed = strtoull(at->seed, NULL, 10), .max_row_ulp = INFINITY, .deadline_seconds = 600};
    bool residual;
    drop_rows(at);
    judge_destroy(at->judge);
    at->storage = storage;
    at->param = param;
    at->hidden = hidden;
    at->judge = judge_create(worker_runner(at->worker), &as);
    at->blocks = allocate_zeroed(count_blocks(), sizeof *at->blocks);
    while (at->count < count_blocks()) {
        const char *family = family_of(at->count, &residual);
        judge_block_generate(at->judge, &at->blocks[at->count++],
                             call_dense(&pytorch, storage, param, CELL_ROWS, hidden), family,
                             residual ? "normal" : NULL, 0);
    }
}

/* Judges one block in one place. A row's bits depend on that row alone (docs/accuracy.md), so that 18 rows for which
 * the library gets small sizes of caches stand for as many as fill large ones. */
static void judge_place_of(const bench *at, const kernel_entry *call, size_t index,
                           call_place place, case_judgement *judgement)
{
    static const layout_name layouts[] = {LAYOUT_TIMED, LAYOUT_IN_PLACE, LAYOUT_BEFORE};
    const judge_block *block = &at->blocks[index];
    worker_message message = message_for(MESSAGE_JUDGE, call);
    row_findings findings = {.verdict.kind = VERDICT_PASS};
    bool has_bound = false;
    message.place = place;
    message.rows_at_once = place == PLACE_FEW ? 1 + index % 3 : 0;
    message.layout =
        layout_named(layouts[(index + place) % 3], operations[block->operation], block->hidden);
    call_class(&call->facts, &message.accuracy);
    *judgement = (case_judgement){.bound_row_ulp = NAN, .probable_row_ulp = NAN};
    judge_reserve(at->judge, block);
    if (!judge_bounds(at->judge, block, call, &has_bound, &findings.verdict) ||
        !judge_run(at->judge, block, call, &message, at->judge->computed, &findings.verdict)) {
        judgement->verdict = findings.verdict;
        return;
    }
    const judged_kind kind = judged_kind_of(call, has_bound);
    judge_call(at->judge, block, at->judge->computed, &kind, false, &findings, judgement);
}

/* Judges one cell and prints its line. */
static bool judge_cell(const bench *at, const kernel_entry *call, call_place place, error *err)
{
    char name[NAME_LENGTH], worst[NAME_LENGTH] = "";
    bool residual;
    double largest = -1;
    ln_accuracy accuracy = LN_ACCURACY_FAST;
    call_class(&call->facts, &accuracy);
    for (size_t i = 0; i < at->count; i++) {
        case_judgement one;
        if (!promise_covers(accuracy, family_of(i, &residual)))
            continue;
        name_cell(i, place, name);
        judge_place_of(at, call, i, place, &one);
        if (!verdict_is_right(one.verdict.kind) ||
            one.metrics.row_ulp_max > promised_row_ulp(accuracy, at->storage, &pytorch))
            return fail(err, EXIT_CODE_ACCURACY,
                        "%s, %s, hidden %zu, seed %s, %s: %s has %.4g row ULP: %s",
                        call->facts.name, at->isa, at->hidden, at->seed, name, at->judge->taken,
                        one.metrics.row_ulp_max, one.verdict.detail);
        if (one.metrics.row_ulp_max > largest) {
            largest = one.metrics.row_ulp_max;
            snprintf(worst, sizeof worst, "%s", strchr(name, ':') + 2);
        }
    }
    printf("%s\t%s\t%zu\t%s\t%s\t%.4g\t%s\t%s\n", call->facts.name, at->isa, at->hidden,
           places[place], at->judge->taken, largest, worst, at->seed);
    return true;
}

/* Returns whether a row of the dispatch table has the class, ISA and types of these calls. */
static bool is_of(const bench *at, const struct row *row, ln_accuracy accuracy)
{
    return strcmp(row->class, classes[accuracy]) == 0 && strcmp(row->isa, at->isa) == 0 &&
           strcmp(row->storage, dtype_name(at->storage)) == 0 &&
           strcmp(row->param, dtype_name(at->param)) == 0;
}

/* Returns whether the condition of a row of the dispatch table is met at this place. */
static bool holds(const bench *at, const struct row *row, call_place place)
{
    const ln_problem problem = {.rows = place == PLACE_FEW ? 1 : CELL_ROWS, .hidden = at->hidden};
    return ln_when_holds(row->when, &problem, dtype_size(at->storage), place == PLACE_MEMORY);
}

/* Returns whether these calls take this row of the dispatch table: it is the first that fits them and the place. */
static bool is_for(const bench *at, size_t index, ln_accuracy accuracy, call_place place)
{
    size_t first = 0;
    while (first < ROWS && !(is_of(at, &table[first], accuracy) && holds(at, &table[first], place)))
        first++;
    return first == index;
}

static bool judge_all(bench *at, error *err)
{
    for (size_t i = 0; i < SIZES * PAIRS; i++) {
        const ln_type *pair = pairs[i % PAIRS];
        if (strcmp(at->isa, "avx512bf16") == 0 && pair[0] != LN_BF16)
            continue;
        make_rows(at, pair[0], pair[1], sizes[i / PAIRS]);
        for (size_t k = 0; k < at->kernels.count; k++) {
            const kernel_entry *call = &at->kernels.kernels[k];
            ln_accuracy accuracy;
            bool fine = call->facts.operation == LN_OPERATION_LAYERNORM &&
                        call->facts.storage == pair[0] && call->facts.param == pair[1] &&
                        call_class(&call->facts, &accuracy);
            for (call_place place = PLACE_FEW; fine && place < CALL_PLACES; place++)
                if (!judge_cell(at, call, place, err))
                    return false;
        }
    }
    return true;
}

static bool judge_one(bench *at, char **cell, error *err)
{
    const kernel_entry *call = kernel_find(&at->kernels, cell[0]);
    call_place place = PLACE_FEW;
    while (place < PLACE_MEMORY && strcmp(places[place], cell[2]) != 0)
        place++;
    if (!call)
        return fail(err, EXIT_CODE_USAGE, "no kernel %s", cell[0]);
    make_rows(at, call->facts.storage, call->facts.param, strtoul(cell[1], NULL, 10));
    return judge_cell(at, call, place, err);
}

static void print_promises(void)
{
    for (int class = 0; class < CLASSES; class ++)
        for (int type = 0; type < TYPES; type++)
            printf("%s\t%s\t%g\n", classes[class], dtype_name((ln_type)type),
                   promised_row_ulp((ln_accuracy) class, (ln_type)type, &pytorch));
}

/* Prints the cells that the file of judged cells (cells.tsv) must have for one hidden size and pair of types. */
static void print_rows(const bench *at)
{
    for (size_t i = 0; i < ROWS; i++)
        for (int class = 0; class < LN_ACCURACY_EXACT; class ++)
            for (call_place place = PLACE_FEW; place < CALL_PLACES; place++)
                if (is_for(at, i, (ln_accuracy) class, place))
                    printf("library_%s_%s%s%s\t%s\t%zu\t%s\t%s\n", classes[class], table[i].storage,
                           at->storage == at->param ? "" : "_param_",
                           at->storage == at->param ? "" : table[i].param, at->isa, at->hidden,
                           places[place], table[i].kernel);
}

static void print_table(void)
{
    for (size_t i = 0; i < ISAS * SIZES * PAIRS; i++) {
        const ln_type *pair = pairs[i % PAIRS];
        print_rows(&(bench){.isa = isas[i / PAIRS / SIZES].name,
                            .storage = pair[0],
                            .param = pair[1],
                            .hidden = sizes[i / PAIRS % SIZES]});
    }
}

int main(int argc, char **argv)
{
    bench at = {.isa = argv[1], .seed = argv[2]};
    error err = {0};
    size_t isa = 0;
    if (argc == 2 && strcmp(argv[1], "--table") == 0) {
        print_promises();
        print_table();
        return EXIT_CODE_FINE;
    }
    while (argc > 2 && isa < ISAS && strcmp(isas[isa].name, argv[1]) != 0)
        isa++;
    if ((argc != 3 && argc != 6) || isa == ISAS) {
        fputs("usage: judge_cells ISA SEED [CALL HIDDEN PLACE] | --table\n", stderr);
        return EXIT_CODE_USAGE;
    }
    setenv("LN_DISABLE_ISA", isas[isa].without, 1);
    setenv("LNBENCH_PEERS", "0", 1);
    at.worker = worker_start(NULL, 0, &at.kernels);
    if ((argc > 3 ? judge_one(&at, argv + 3, &err) : judge_all(&at, &err)) && fflush(stdout))
        fail(&err, EXIT_CODE_ENVIRONMENT, "stdout: cannot be written");
    if (err.code != EXIT_CODE_FINE)
        fprintf(stderr, "judge_cells: %s\n", err.message);
    drop_rows(&at);
    judge_destroy(at.judge);
    worker_stop(at.worker);
    kernel_list_free(&at.kernels);
    return (int)err.code;
}
