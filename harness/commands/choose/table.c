/* The table's rows, from one choice for each class, ISA, regime and hidden size. Text that comes
 * from the store passes the filters of emit.c before it gets into the code. */
#include "domain/kernel_json.h"
#include "commands/choose/table.h"
#include "kernel_table.h"
#include <math.h>
#include <string.h>

#define ISA_NAME(name, ...) #name,
static const char *const isas[] = {LN_ISA_TABLE(ISA_NAME) NULL};
/* Of this architecture: the table has 0 for what others have. */
#define ISA_IS_HERE(name, label, cpu, ...) strcmp(#cpu, "0") != 0,
enum { ISAS = sizeof isas / sizeof *isas - 1 };

void table_shape(const machine_facts *machine, ln_type dtype, size_t index, size_t *rows,
                 size_t *hidden)
{
    static const size_t sizes[TABLE_HIDDEN] = {64, 256, 768, 1024, 4096, 12288};
    size_t regime = index % TABLE_REGIMES;
    *hidden = sizes[index / TABLE_REGIMES];
    *rows = regime == TABLE_FEW ? 1 : machine_rows(machine, (cache_regime)regime, *hidden, dtype);
}

const char *table_regime(size_t index)
{
    size_t regime = index % TABLE_REGIMES;
    return regime == TABLE_FEW ? "few" : regime_names[regime];
}

cache_state table_cache(size_t index)
{
    return index % TABLE_REGIMES < REGIME_DRAM ? CACHE_READ : CACHE_HOT;
}

bool table_has(const chosen *one, const kernel_entry *kernel, table_pass pass)
{
    char hash[20], reason[256];
    bool unjudged, of_any = pass == PASS_ERRORS;
    if (pass != PASS_ERRORS && kernel->plugin != 0)
        return false;
    snprintf(hash, sizeof hash, "%016llx", (unsigned long long)kernel->object_hash);
    for (int class = CLASS_FAST; !of_any && class <= CLASS_REPRODUCIBLE; class ++) {
        if (pass == PASS_BARE && class != CLASS_ACCURATE)
            continue;
        of_any =
            class_has((accuracy_class) class, &one->evidence, kernel->facts.name, hash,
                      one->wanted.hidden, &unjudged, reason, sizeof reason) ||
            (class == CLASS_REPRODUCIBLE && strcmp(kernel->facts.statistics, "reproducible") == 0);
    }
    return of_any && !kernel->unsupported[0] && kernel->facts.storage == one->wanted.dtype &&
           kernel_is_wanted(&one->wanted, kernel->facts.name);
}

size_t table_lacks(const chosen *all, size_t count, const kernel_list *kernels, table_pass pass,
                   choose_lack *lacks)
{
    size_t found = 0;
    bool speed = pass == PASS_TIMES || pass == PASS_AGAIN;
    for (size_t i = 0; i < count; i++) {
        const chosen *one = &all[i];
        const kernel_evidence *evidence = pass == PASS_AGAIN ? &one->again : &one->evidence;
        bool lacking = speed && (pass == PASS_TIMES || i % TABLE_REGIMES == REGIME_DRAM) &&
                       (!evidence->timed || !evidence->same_library || !evidence->same_shape);
        for (size_t k = 0; !lacking && k < kernels->count; k++) {
            const kernel_entry *kernel = &kernels->kernels[k];
            char hash[20];
            snprintf(hash, sizeof hash, "%016llx", (unsigned long long)kernel->object_hash);
            lacking = !speed && i % TABLE_REGIMES == 0 && table_has(one, kernel, pass) &&
                      (pass == PASS_BARE || kernel->facts.unroll == 4 || kernel->version[0]) &&
                      !class_is_judged(&one->evidence, pass == PASS_BARE, kernel->facts.name, hash,
                                       one->wanted.hidden);
        }
        if (lacking)
            lacks[found++] = (choose_lack){&one->wanted, speed, !speed};
    }
    return found;
}

/* Those of one cache state; the first speaks for all of them. */
static bool measure_state(const choose_meter *whole, const choose_lack *lacks, size_t count,
                          cache_state cache, const word_list *kernels, table_pass pass, error *err)
{
    choose_lack own[TABLE_SHAPES];
    choose_meter meter = *whole;
    size_t found = 0;
    int64_t run;
    bool short_of_time;
    for (size_t i = 0; i < count; i++)
        if (lacks[i].wanted->cache == cache)
            own[found++] = lacks[i];
    if (found == 0)
        return true;
    choose_wanted first = *own[0].wanted;
    if (pass == PASS_BARE && !choose_without_eps(own[0].wanted, &first))
        return true;
    first.kernels = kernels;
    own[0].wanted = &first;
    meter.seconds *= (double)found / (double)count;
    return choose_measure(&meter, own, found, &run, &short_of_time, err);
}

bool table_measure(const choose_meter *meter, const choose_lack *lacks, size_t count,
                   const word_list *kernels, table_pass pass, error *err)
{
    bool fine = true;
    for (cache_state cache = CACHE_HOT; fine && cache < CACHE_STATES; cache++)
        fine = measure_state(meter, lacks, count, cache, kernels, pass, err);
    return fine;
}

/* The ISAs that a CPU with this one has: of one architecture the lesser are earlier in isa.def. */
static void usable_with(int isa, const char *usable[ISAS + 1])
{
    const bool is_here[] = {LN_ISA_TABLE(ISA_IS_HERE)};
    size_t count = 0;
    for (int i = 0; i <= isa; i++)
        if (i == 0 || i == isa || (is_here[i] && is_here[isa]))
            usable[count++] = isas[i];
    usable[count] = NULL;
}

static bool is_timed_for(const chosen *one, const char *isa)
{
    for (size_t i = 0; i < one->evidence.cases.count; i++)
        if (one->evidence.cases.cases[i].key.dtype == one->wanted.dtype &&
            strcmp(descriptor_word(one->evidence.kernels, one->evidence.cases.cases[i].key.kernel,
                                   "isa"),
                   isa) == 0)
            return true;
    return false;
}

/* Of the kernels that both runs have within the budget, the one that the product of its times in
 * them is least of. */
static const scored_kernel *best_of_both(const kernel_choice *one, const kernel_choice *other)
{
    const scored_kernel *best = NULL;
    double least = INFINITY;
    for (size_t i = 0; i < one->count; i++)
        for (size_t k = 0; k < other->count; k++) {
            const scored_kernel *a = &one->candidates[i], *b = &other->candidates[k];
            if (a->fate <= FATE_SLOWER && b->fate <= FATE_SLOWER &&
                strcmp(a->view.stored->key.kernel, b->view.stored->key.kernel) == 0 &&
                a->relative * b->relative < least) {
                least = a->relative * b->relative;
                best = a;
            }
        }
    return best ? best : one->best;
}

/* The kernel for one cell and shape into name, "" where there is none. */
static void choose_one(const chosen *one, accuracy_class class, int isa, const char *param,
                       char name[NAME_MAX_LENGTH])
{
    const char *usable[ISAS + 1];
    choose_wanted wanted = one->wanted;
    kernel_choice choice, again = {0};
    name[0] = '\0';
    if (!one->evidence.timed || !is_timed_for(one, isas[isa]))
        return;
    usable_with(isa, usable);
    wanted.class = class;
    wanted.isas = usable;
    wanted.param = param;
    choice_make(&wanted, &one->evidence, &choice);
    if (one->again.timed)
        choice_make(&wanted, &one->again, &again);
    const scored_kernel *best = best_of_both(&choice, &again);
    if (best)
        snprintf(name, NAME_MAX_LENGTH, "%s", best->view.stored->key.kernel);
    choice_free(&choice);
    choice_free(&again);
}

static size_t border(size_t own, size_t next)
{
    return (size_t)sqrt((double)own * (double)next);
}

/* The rows of one class, ISA, parameter type and regime: neighbours of one kernel are one row. */
static void add_cell(const chosen *all, size_t count, accuracy_class class, int isa, ln_type param,
                     size_t regime, text_buffer *out)
{
    char name[NAME_MAX_LENGTH] = "", last[NAME_MAX_LENGTH] = "";
    size_t hidden = 0;
    const char *dtype = dtype_name(all[0].wanted.dtype);
    for (size_t i = regime;; i += TABLE_REGIMES) {
        bool end = i >= count;
        name[0] = '\0';
        if (!end)
            choose_one(&all[i], class, isa, dtype_name(param), name);
        if (!end && !name[0])
            continue; /* its neighbours stand for it */
        if (last[0] && strcmp(name, last) != 0) {
            text_format(out, " \\\n    row(%s, %s, %s, %s, %s, ", class_name(class), dtype,
                        dtype_name(param), isas[isa], table_regime(regime));
            if (end)
                text_add(out, "SIZE_MAX");
            else
                text_format(out, "%zu", border(hidden, all[i].wanted.hidden));
            text_add(out, ", ");
            emit_literal(out, last);
            text_add(out, ")");
        }
        if (end)
            break;
        snprintf(last, sizeof last, "%s", name);
        hidden = all[i].wanted.hidden;
    }
}

static void add_fact(text_buffer *out, const char *what, const char *value)
{
    text_format(out, " * %s", what);
    emit_comment(out, value);
    text_add(out, "\n");
}

static void add_run(const chosen *one, const char *what, const stored_run *run, text_buffer *out)
{
    char words[96];
    snprintf(words, sizeof words, "%lld, %.40s, %s%s", (long long)run->id, run->started,
             dtype_name(one->wanted.dtype), what);
    add_fact(out, "run: ", words);
}

/* The runs that each element type's times are of. */
static void add_runs(const chosen *all, size_t count, text_buffer *out)
{
    for (size_t i = 0; i < count; i += TABLE_SHAPES) {
        const chosen *dram = &all[i + REGIME_DRAM];
        add_run(&all[i], "", &all[i].evidence.run, out);
        if (dram->evidence.timed && dram->evidence.run.id != all[i].evidence.run.id)
            add_run(dram, ", DRAM", &dram->evidence.run, out);
        if (dram->again.timed)
            add_run(dram, ", DRAM", &dram->again.run, out);
    }
}

static void add_head(const chosen *all, size_t count, const char *command_line, text_buffer *out)
{
    const kernel_evidence *evidence = &all[0].evidence;
    text_add(out, "/* clang-format off */\n"
                  "/* Which kernel ln_layernorm() takes, as measured. Written by\n *\n *     ");
    emit_comment(out, command_line);
    text_add(out, "\n *\n");
    add_fact(out, "CPU: ", machine_fact_value(&evidence->machine, "cpu_model"));
    add_fact(out, "compiler: ", machine_fact_value(&evidence->machine, "compiler"));
    add_fact(out, "commit: ", machine_fact_value(&evidence->machine, "git_commit"));
    add_runs(all, count, out);
    for (int class = CLASS_FAST; class <= CLASS_REPRODUCIBLE; class ++) {
        text_format(out, " * %s: ", class_name((accuracy_class) class));
        emit_comment(out, class_words((accuracy_class) class));
        text_add(out, "\n");
    }
    text_add(
        out,
        " *\n"
        " * row(class, storage, param, isa, regime, hidden up to, kernel): of the rows for a\n"
        " * CPU's best ISA and a call's regime (x + y bytes within L1, L2, L3, or beyond; few:\n"
        " * 3 rows at most, within L2) the first that is long enough; rows of better ISAs come\n"
        " * first. A program may use it with a macro of its own for row, and\n"
        " * ln_layernorm_with(). */\n"
        "#ifndef LAYERNORM_DISPATCH\n\n"
        "/* The caches of the machine that was measured, in bytes. */\n");
    text_format(out, "#define LAYERNORM_DISPATCH_CACHES %zu, %zu, %zu\n\n",
                evidence->machine.l1d_bytes, evidence->machine.l2_bytes,
                evidence->machine.l3_bytes);
    text_add(out, "#define LAYERNORM_DISPATCH(row)");
}

/* The rows of one class and element type. */
static void add_type(const chosen *all, accuracy_class class, text_buffer *out)
{
    static const ln_type params[] = {LN_F32, LN_F64, LN_BF16, LN_F16};
    for (size_t param = 0; param < sizeof params / sizeof *params; param++)
        for (int isa = ISAS - 1; isa >= 0; isa--)
            for (size_t regime = 0; regime < TABLE_REGIMES; regime++)
                add_cell(all, TABLE_SHAPES, class, isa, params[param], regime, out);
}

bool chosen_emit_table(chosen *all, size_t count, const char *command_line, text_buffer *out,
                       error *err)
{
    add_head(all, count, command_line, out);
    size_t before = out->length;
    for (int class = CLASS_FAST; class <= CLASS_REPRODUCIBLE; class ++)
        for (size_t i = 0; i < count; i += TABLE_SHAPES)
            add_type(all + i, (accuracy_class) class, out);
    if (out->length == before)
        return fail(err, EXIT_CODE_ACCURACY, "no kernel is of any class: nothing to write");
    text_add(out, "\n\n#endif\n");
    return true;
}
