#include "plan/plan.h"
#include "base/allocate.h"
#include "domain/operation.h"
#include "domain/convention.h"
#include "inputs/inputs.h"
#include "inputs/worst.h"
#include "base/hash.h"
#include <stdlib.h>
#include <string.h>

enum {
    SWEEP_ROWS = 18,          /* two halves, each with the nine kappas of the offset sweep */
    BLOCK_BYTES = 256 * 1024, /* of a timed group's judged block */
    MOST_BLOCK_BYTES = 1024 * 1024,
    MANY_ROWS = 32,
    FEW_ROWS = 8,
    MOST_SAMPLES = 1000, /* processes of a shape, repetitions of a process */
};

case_key accuracy_key(const accuracy_group *group, const kernel_entry *kernel)
{
    case_key key;
    memset(&key, 0, sizeof key); /* padding too: keys are hashed */
    key.operation = group->convention.operation;
    key.rows = group->rows;
    key.hidden = group->hidden;
    key.dtype = group->dtype;
    key.threads = 1;
    snprintf(key.kernel, sizeof key.kernel, "%s", kernel->facts.name);
    snprintf(key.convention, sizeof key.convention, "%s", group->convention_label);
    snprintf(key.input, sizeof key.input, "%s", group->input);
    return key;
}

case_key speed_key(const speed_group *group, const char *kernel)
{
    case_key key;
    memset(&key, 0, sizeof key);
    key.operation = group->convention.operation;
    key.rows = group->rows;
    key.hidden = group->hidden;
    key.dtype = group->dtype;
    key.cache = group->cache;
    key.threads = group->threads;
    snprintf(key.kernel, sizeof key.kernel, "%s", kernel);
    snprintf(key.convention, sizeof key.convention, "%s", group->convention_label);
    snprintf(key.input, sizeof key.input, "%s", group->input);
    return key;
}

/* The request's words, read; the plan's own where there are none. */
typedef struct resolved_plan {
    ln_convention *conventions;     /* of the operation that is being added */
    size_t convention_count, named; /* named: by the user */
    size_t sets, set_count;         /* of plan->combinations, its own */
    const char **inputs;
    bool *everywhere; /* the default plan has this input under every convention */
    size_t input_count;
    bool named_inputs; /* by the user */
    bool quick, full;
    bool caches[CACHE_STATES];
    unsigned threads[PLAN_THREAD_NUMBERS]; /* each a number of threads to time with */
    size_t thread_count;
} resolved_plan;

/* Those of the operation that is being added; where none of its own is named, its presets. */
static void resolve_conventions(const ln_convention *named, size_t count, ln_operation kind,
                                resolved_plan *resolved)
{
    size_t presets;
    const convention_preset *preset = convention_presets(kind, &presets);
    resolved->conventions = allocate_zeroed(count + presets, sizeof *resolved->conventions);
    resolved->convention_count = 0;
    for (size_t i = 0; i < count; i++)
        if (named[i].operation == kind)
            resolved->conventions[resolved->convention_count++] = named[i];
    resolved->named = resolved->convention_count;
    for (size_t i = 0, same; resolved->named == 0 && i < presets; i++) {
        for (same = 0;
             same < i && !convention_equal(&preset[same].convention, &preset[i].convention);)
            same++;
        if (same == i) /* two makers may compute the same */
            resolved->conventions[resolved->convention_count++] = preset[i].convention;
    }
}

static bool resolve_inputs(const plan_request *request, const case_plan *plan,
                           resolved_plan *resolved, error *err)
{
    size_t families;
    const input_family *family = input_families(&families);
    bool named = resolved->named_inputs = request->inputs.count > 0;
    size_t most = named ? request->inputs.count : families;
    resolved->inputs = allocate_zeroed(most, sizeof *resolved->inputs);
    resolved->everywhere = allocate_zeroed(most, sizeof *resolved->everywhere);
    resolved->input_count = 0;
    for (size_t i = 0; i < most; i++) {
        const char *input = named ? request->inputs.words[i] : family[i].name;
        if (named && !input_check(input, err))
            return false;
        if (!named && !input_suits(&family[i], plan->adding.operation))
            continue;
        resolved->everywhere[resolved->input_count] = named || family[i].everywhere;
        resolved->inputs[resolved->input_count++] = input;
    }
    return true;
}

static bool resolve_rest(const plan_request *request, resolved_plan *resolved, error *err)
{
    resolved->quick = strcmp(request->name, "quick") == 0;
    resolved->full = strcmp(request->name, "full") == 0;
    if (!resolved->quick && !resolved->full && strcmp(request->name, "default") != 0)
        return fail(err, EXIT_CODE_USAGE, "--plan %.60s: quick, default or full was expected",
                    request->name);
    for (size_t i = 0; i < request->dtypes.count; i++) {
        ln_type type;
        if (!dtype_from_name(request->dtypes.words[i], &type))
            return fail(err, EXIT_CODE_USAGE, "--dtypes %.60s: f32, f64, bf16 or f16 was expected",
                        request->dtypes.words[i]);
    }
    if (!plan_threads(&request->threads, resolved->threads, &resolved->thread_count, err))
        return false;
    if (request->processes > MOST_SAMPLES || request->repetitions > MOST_SAMPLES)
        return fail(err, EXIT_CODE_USAGE, "--%s %llu: %d is the most",
                    request->processes > MOST_SAMPLES ? "processes" : "repetitions",
                    (unsigned long long)(request->processes > MOST_SAMPLES ? request->processes
                                                                           : request->repetitions),
                    MOST_SAMPLES);
    for (size_t i = 0; i < request->caches.count; i++) {
        cache_state state;
        if (!cache_from_name(request->caches.words[i], &state))
            return fail(err, EXIT_CODE_USAGE, "--cache %.60s: expected hot, cold, in-place or read",
                        request->caches.words[i]);
        resolved->caches[state] = true;
    }
    if (request->caches.count == 0)
        resolved->caches[CACHE_HOT] = true;
    if (request->only && strcmp(request->only, "speed") != 0 &&
        strcmp(request->only, "accuracy") != 0)
        return fail(err, EXIT_CODE_USAGE, "--only %.60s: speed or accuracy was expected",
                    request->only);
    return true;
}

static accuracy_group *add_accuracy(case_plan *plan, const ln_convention *convention,
                                    const char *input, size_t rows, size_t hidden)
{
    plan->accuracy = allocate_room(plan->accuracy, plan->accuracy_count, sizeof *plan->accuracy);
    accuracy_group *group = &plan->accuracy[plan->accuracy_count++];
    *group = (accuracy_group){.convention = *convention,
                              .dtype = plan->adding.dtype,
                              .param = plan->adding.param,
                              .rows = rows,
                              .hidden = hidden};
    convention_label(convention, group->convention_label);
    snprintf(group->input, sizeof group->input, "%s", input);
    return group;
}

/* Rows of the judged block that a timed tensor repeats: multiples of powers of two where they fit,
 * so that a row lies in each repeat as in the first, modulo cache lines and modulo the groups in
 * which a kernel may take rows. */
static size_t rows_of_block(size_t rows, size_t hidden, ln_type dtype)
{
    size_t row_bytes = hidden * dtype_size(dtype), block = BLOCK_BYTES / row_bytes;
    if (block >= MANY_ROWS)
        block -= block % MANY_ROWS;
    else if (block >= FEW_ROWS)
        block -= block % FEW_ROWS;
    else if (FEW_ROWS * row_bytes <= MOST_BLOCK_BYTES)
        block = FEW_ROWS;
    else
        block = block == 0 ? 1 : block;
    return block < rows ? block : rows;
}

static void add_speed_group(case_plan *plan, const plan_request *request,
                            const resolved_plan *resolved, size_t rows, size_t hidden,
                            cache_state cache, unsigned threads)
{
    plan->speed = allocate_room(plan->speed, plan->speed_count, sizeof *plan->speed);
    speed_group *group = &plan->speed[plan->speed_count++];
    *group = (speed_group){
        .convention = resolved->conventions[0],
        .dtype = plan->adding.dtype,
        .param = plan->adding.param,
        .rows = rows,
        .hidden = hidden,
        .block_rows = rows_of_block(rows, hidden, plan->adding.dtype),
        .cache = cache,
        .threads = threads,
        .processes = (unsigned)(request->processes ? request->processes
                                : resolved->quick  ? 3
                                                   : 5),
        .repetitions = (unsigned)(request->repetitions ? request->repetitions
                                  : resolved->quick    ? 2
                                  : resolved->full     ? 6
                                                       : 3),
        .min_seconds = resolved->quick ? 0.003 : 0.005,
    };
    snprintf(group->input, sizeof group->input, "%s",
             request->time_on ? request->time_on : "normal");
    /* The plan's own number is shortened where that costs no precision, the user's never. */
    group->slow_repetitions =
        request->repetitions ? group->repetitions : (group->repetitions + 2) / 3;
    convention_label(&group->convention, group->convention_label);
}

/* A shape under every cache state and number of threads that is wanted. */
static void add_speed(case_plan *plan, const plan_request *request, const resolved_plan *resolved,
                      size_t rows, size_t hidden)
{
    for (size_t i = 0; i < resolved->thread_count; i++)
        for (cache_state cache = CACHE_HOT; cache < CACHE_STATES; cache++)
            if (resolved->caches[cache])
                add_speed_group(plan, request, resolved, rows, hidden, cache, resolved->threads[i]);
}

static void plan_speed(const plan_request *request, const resolved_plan *resolved,
                       const machine_facts *machine, case_plan *plan)
{
    static const size_t sizes[] = {64, 256, 768, 1024, 4096, 8192, 12288};
    ln_type dtype = plan->adding.dtype;
    for (size_t i = 0; i < sizeof sizes / sizeof *sizes; i++) {
        size_t hidden = sizes[i];
        bool few = hidden == 64 || hidden == 768 || hidden == 4096;
        if (resolved->quick && !few)
            continue;
        const bool wanted[REGIMES] = {[REGIME_L1] = resolved->full,
                                      [REGIME_L2] = true,
                                      [REGIME_L3] = resolved->full,
                                      [REGIME_DRAM] =
                                          resolved->full ||
                                          (!resolved->quick && (hidden == 768 || hidden == 4096))};
        static const cache_regime turn[REGIMES] = {REGIME_L2, REGIME_L1, REGIME_L3, REGIME_DRAM};
        for (size_t r = 0; r < REGIMES; r++)
            if (wanted[turn[r]])
                add_speed(plan, request, resolved,
                          machine_rows(machine, turn[r], plan->adding.operation, hidden, dtype),
                          hidden);
    }
}

/* The rows of a user's file, so that a bad one is found before anything is measured. A family has
 * no shape of its own: *hidden is 0. */
static bool own_shape(const char *input, size_t *rows, size_t *hidden, error *err)
{
    *rows = SWEEP_ROWS;
    *hidden = 0;
    if (!input_is_file(input))
        return true;
    if (!input_file_shape(input, rows, hidden, err))
        return false;
    *rows = *rows < SWEEP_ROWS ? *rows : SWEEP_ROWS;
    return true;
}

/* A user's file is judged at its own hidden size, under each convention. */
static bool add_own(const resolved_plan *resolved, const char *input, case_plan *plan, bool *own,
                    error *err)
{
    size_t rows, hidden;
    if (!own_shape(input, &rows, &hidden, err))
        return false;
    *own = hidden != 0;
    for (size_t c = 0; *own && c < resolved->convention_count; c++)
        add_accuracy(plan, &resolved->conventions[c], input, rows, hidden);
    return true;
}

/* Sums so long that their rounding grows: one row each, under the first convention. A row of 1e7 is
 * judged in about 2 GiB of memory; a machine without them leaves it out. */
static void plan_long_sums(const resolved_plan *resolved, const machine_facts *machine,
                           case_plan *plan)
{
    static const size_t sizes[] = {100000, 1000000, 10000000};
    static const char *const inputs[] = {"normal", "positive"};
    static const double bytes_an_element = 200;
    double memory = machine_memory(machine, NULL);
    for (size_t s = 0; s < sizeof sizes / sizeof *sizes; s++)
        for (size_t i = 0; i < sizeof inputs / sizeof *inputs; i++)
            if (memory <= 0 || bytes_an_element * (double)sizes[s] < memory / 2)
                add_accuracy(plan, &resolved->conventions[0], inputs[i], 1, sizes[s]);
}

/* Whether the plan has this input under this convention. What the user named is judged under all.
 */
static bool has_case(const resolved_plan *resolved, size_t input, size_t convention)
{
    if (resolved->quick)
        return convention == 0 ? resolved->everywhere[input]
                               : strcmp(resolved->inputs[input], "normal") == 0;
    return convention == 0 || resolved->full || resolved->everywhere[input];
}

/* What eps would hide: the kappa sweep's axis is kappa alone, ties are none with it. */
static void plan_without_eps(const resolved_plan *resolved, const size_t *sizes, size_t count,
                             case_plan *plan)
{
    size_t families;
    const input_family *family = input_families(&families);
    ln_convention convention = resolved->conventions[0];
    convention.eps_place = LN_EPS_NONE;
    convention.eps = 0;
    for (size_t i = 0; i < count * families; i++)
        if (family[i % families].without_eps &&
            input_suits(&family[i % families], plan->adding.operation))
            add_accuracy(plan, &convention, family[i % families].name, SWEEP_ROWS,
                         sizes[i / families]);
}

/* Names in the plan, and so in the run, which rows of hunts they are. */
static void note_worst(const char *input, const worst_shapes *found, case_plan *plan)
{
    char line[224];
    size_t length = strlen(plan->worst_rows);
    snprintf(line, sizeof line, "%.160s: %zu rows, hash %016llx", input, found->rows,
             (unsigned long long)found->hash);
    if (!strstr(plan->worst_rows, line))
        snprintf(plan->worst_rows + length, sizeof plan->worst_rows - length, "%s%s",
                 length ? "; " : "", line);
    plan->worst_hash = hash_bytes(plan->worst_hash, &found->hash, sizeof found->hash);
}

/* The rows that hunts found, of all kernels of the type, for every kernel: under the first
 * convention, or under all where the user named them. */
static bool plan_worst(const resolved_plan *resolved, const char *input, bool named,
                       case_plan *plan, error *err)
{
    worst_shapes found;
    bool of_type = false;
    if (!worst_input_shapes(input, &found, err))
        return false;
    size_t conventions = named || resolved->full ? resolved->convention_count : 1;
    for (size_t c = 0; c < conventions; c++)
        for (size_t i = 0; i < found.count; i++) {
            const worst_shape *shape = &found.shapes[i];
            of_type |= shape->type == plan->adding.dtype;
            if (shape->type == plan->adding.dtype)
                add_accuracy(plan, &resolved->conventions[c], input, shape->rows, shape->hidden);
        }
    note_worst(input, &found, plan);
    worst_shapes_free(&found);
    return !named || of_type ||
           fail(err, EXIT_CODE_USAGE,
                "--inputs %s: %s holds no find of %s: lnbench hunt makes some", input,
                worst_place(input), dtype_name(plan->adding.dtype));
}

static bool plan_accuracy(const resolved_plan *resolved, const machine_facts *machine,
                          case_plan *plan, error *err)
{
    /* Every convention on every family at one size; the first one also where tails, register tiling
     * and long sums differ. */
    static const size_t sizes[] = {768, 5, 100, 4096};
    bool fine = true;
    bool *own = allocate_zeroed(resolved->input_count, sizeof *own);
    for (size_t i = 0; i < resolved->input_count; i++)
        own[i] = input_is_worst(resolved->inputs[i]);
    for (size_t i = 0; fine && i < resolved->input_count; i++)
        fine = own[i] ? plan_worst(resolved, resolved->inputs[i], true, plan, err)
                      : add_own(resolved, resolved->inputs[i], plan, &own[i], err);
    for (size_t c = 0; c < resolved->convention_count; c++) {
        bool all_sizes = !resolved->quick && (c == 0 || resolved->full);
        for (size_t s = 0; s < (all_sizes ? sizeof sizes / sizeof *sizes : 1); s++)
            for (size_t i = 0; fine && i < resolved->input_count; i++) {
                const char *input = resolved->inputs[i];
                if (has_case(resolved, i, c) && !own[i])
                    add_accuracy(plan, &resolved->conventions[c], input, SWEEP_ROWS, sizes[s]);
            }
    }
    if (fine && !resolved->named_inputs && !resolved->quick)
        plan_without_eps(resolved, sizes, sizeof sizes / sizeof *sizes, plan);
    if (fine && !resolved->named_inputs && !resolved->quick)
        fine = plan_worst(resolved, WORST_INPUT, false, plan, err);
    if (fine && !resolved->named_inputs && resolved->full)
        plan_long_sums(resolved, machine, plan);
    free(own);
    return fine;
}

/* A pack of a conformance test; false: there are not as many. */
static bool add_pack(const resolved_plan *resolved, case_plan *plan, conformance_check check,
                     size_t pack)
{
    const size_t turn = check == CHECK_COMBINATIONS ? pack % resolved->set_count : 0;
    size_t rows, hidden;
    conformance_task task = {.check = check,
                             .convention = resolved->conventions[turn],
                             .storage = plan->adding.dtype,
                             .param = plan->adding.param,
                             .set = plan->combinations[resolved->sets + turn]};
    if (!conformance_pack(&task, pack, &rows, &hidden))
        return false;
    accuracy_group *group = add_accuracy(plan, &task.convention, check_names[check], rows, hidden);
    group->task = task;
    group->for_ours = resolved->full || check == CHECK_EXACT;
    return true;
}

static void plan_conformance(const plan_request *request, resolved_plan *resolved, case_plan *plan)
{
    const size_t sets = resolved->named ? resolved->named : 1;
    size_t before = plan->accuracy_count, pack = 0;
    if (!resolved->quick)
        add_pack(resolved, plan, CHECK_EXACT, 0);
    if (plan->accuracy_count > before && group_kernels(plan, &plan->accuracy[before]) == 0)
        plan->accuracy_count = before;
    before = plan->accuracy_count;
    add_pack(resolved, plan, CHECK_GROWTH, 0);
    if (group_kernels(plan, &plan->accuracy[before]) == 0) {
        plan->accuracy_count = before;
        return;
    }
    while (plan->combination_count < PLAN_SETS && resolved->set_count < sets) {
        plan->combinations[plan->combination_count++] = combinations_make(
            &(combinations_asked){.plain = resolved->conventions[resolved->set_count++],
                                  .alone = resolved->named > 0,
                                  .seed = request->seed,
                                  .quick = resolved->quick});
    }
    for (; add_pack(resolved, plan, CHECK_COMBINATIONS, pack); pack++)
        ;
    add_pack(resolved, plan, CHECK_LARGE, 0);
    if (resolved->full)
        add_pack(resolved, plan, CHECK_LARGE, 1);
}

/* Timing holds x and y, as large as asked for. */
static bool fits_memory(const case_plan *plan, size_t rows, size_t hidden,
                        const machine_facts *machine, error *err)
{
    bool of_group;
    double memory = machine_memory(machine, &of_group);
    double needed =
        call_bytes(operations[plan->adding.operation], rows, hidden, plan->adding.dtype);
    if (memory <= 0 || needed < memory)
        return true;
    return fail(
        err, EXIT_CODE_ENVIRONMENT,
        "shape %zux%zu: x and y need %.0f MiB; %s %.0f MiB of memory: choose fewer rows, or "
        "--only accuracy",
        rows, hidden, needed / 0x1p20, of_group ? "the control group may use" : "this machine has",
        memory / 0x1p20);
}

/* How many rows of an input are judged at a shape: of the rows that hunts found all, as in the plan
 * without shapes. */
static bool judged_rows(const char *input, size_t rows, size_t hidden, case_plan *plan,
                        size_t *judged, error *err)
{
    worst_shapes found;
    *judged = rows < SWEEP_ROWS ? rows : SWEEP_ROWS;
    if (!input_is_worst(input))
        return true;
    if (!worst_input_shapes(input, &found, err))
        return false;
    note_worst(input, &found, plan);
    for (size_t i = 0; i < found.count; i++)
        if (found.shapes[i].type == plan->adding.dtype && found.shapes[i].hidden == hidden)
            *judged = found.shapes[i].rows;
    worst_shapes_free(&found);
    return true;
}

static bool plan_shapes(const plan_request *request, const resolved_plan *resolved,
                        const machine_facts *machine, case_plan *plan, bool speed, bool accuracy,
                        error *err)
{
    for (size_t i = 0; i < request->shapes.count; i++) {
        size_t rows, hidden, own_rows, own_hidden;
        if (!shape_parse(request->shapes.words[i], &rows, &hidden, err) ||
            (speed && !fits_memory(plan, rows, hidden, machine, err)))
            return false;
        for (size_t input = 0; accuracy && input < resolved->input_count; input++) {
            if (!own_shape(resolved->inputs[input], &own_rows, &own_hidden, err))
                return false;
            if (own_hidden && own_hidden != hidden)
                return fail(err, EXIT_CODE_USAGE,
                            "%s: last axis is %zu long: --shapes %s asks for %zu",
                            resolved->inputs[input], own_hidden, request->shapes.words[i], hidden);
        }
        if (speed)
            add_speed(plan, request, resolved, rows, hidden);
        for (size_t c = 0; accuracy && c < resolved->convention_count; c++)
            for (size_t input = 0; input < resolved->input_count; input++) {
                size_t judged;
                if (!judged_rows(resolved->inputs[input], rows, hidden, plan, &judged, err))
                    return false;
                add_accuracy(plan, &resolved->conventions[c], resolved->inputs[input], judged,
                             hidden);
            }
    }
    return true;
}

/* The groups of one pair of types. */
static bool plan_types(const plan_request *request, resolved_plan *resolved,
                       const machine_facts *machine, case_plan *plan, bool speed, bool accuracy,
                       error *err)
{
    for (size_t i = 0; i < resolved->input_count; i++)
        if (!input_has_type(resolved->inputs[i], plan->adding.dtype, err))
            return false;
    if (speed && request->time_on && !input_has_type(request->time_on, plan->adding.dtype, err))
        return false;
    /* What narrows the shapes and inputs narrows what is tabled, not what is trusted. */
    if (accuracy && request->conformance)
        plan_conformance(request, resolved, plan);
    if (request->shapes.count)
        return plan_shapes(request, resolved, machine, plan, speed, accuracy, err);
    if (accuracy && !plan_accuracy(resolved, machine, plan, err))
        return false;
    if (speed)
        plan_speed(request, resolved, machine, plan);
    return true;
}

/* Every pair of storage and parameter type that a chosen kernel has, in the order of the types. */
static bool plan_all_types(const plan_request *request, resolved_plan *resolved,
                           const machine_facts *machine, case_plan *plan, bool speed, bool accuracy,
                           error *err)
{
    enum { TYPES = LN_F16 + 1 };
    for (int each = 0; each < TYPES * TYPES; each++) {
        plan->adding.dtype = (ln_type)(each / TYPES);
        plan->adding.param = (ln_type)(each % TYPES);
        if (plan_has(plan, &plan->adding) &&
            !plan_types(request, resolved, machine, plan, speed, accuracy, err))
            return false;
    }
    return true;
}

/* A convention that is named is asked of some kernel. */
static bool check_asked(const case_plan *plan, const ln_convention *named, size_t count, error *err)
{
    for (size_t i = 0; i < count; i++) {
        char label[CONVENTION_MAX_LENGTH];
        ln_operation kind = named[i].operation;
        bool asked = false;
        for (size_t kernel = 0; kernel < plan->kernel_count; kernel++)
            asked |= plan->kernels[kernel]->facts.operation == kind;
        if (!asked)
            return fail(
                err, EXIT_CODE_USAGE,
                "--conventions %s is of %s, which none of the chosen kernels computes: leave "
                "it out, or name kernels of both",
                convention_label(&named[i], label), operation_name(kind));
    }
    return true;
}

bool plan_make(const plan_request *request, const kernel_list *kernels,
               const machine_facts *machine, case_plan *plan, error *err)
{
    resolved_plan resolved = {0};
    ln_convention *named = NULL;
    size_t count = 0;
    bool speed = !request->only || strcmp(request->only, "speed") == 0;
    bool accuracy = !request->only || strcmp(request->only, "accuracy") == 0;
    *plan = (struct case_plan){.seed = request->seed};
    bool fine = resolve_rest(request, &resolved, err) &&
                plan_conventions(request, plan, &named, &count, err) &&
                plan_choose_kernels(request, kernels, plan, err) &&
                check_asked(plan, named, count, err);
    snprintf(plan->name, sizeof plan->name, "%s", request->name);
    for (int kind = 0; fine && kind < OPERATIONS; kind++) {
        if (!(plan->operations & OPERATION_BIT(kind)))
            continue;
        plan->adding.operation = (ln_operation)kind;
        resolved.sets = plan->combination_count;
        resolved.set_count = 0;
        resolve_conventions(named, count, plan->adding.operation, &resolved);
        fine = resolve_inputs(request, plan, &resolved, err) &&
               plan_all_types(request, &resolved, machine, plan, speed, accuracy, err);
        free(resolved.conventions);
        free(resolved.inputs);
        free(resolved.everywhere);
        resolved.conventions = NULL;
        resolved.inputs = NULL;
        resolved.everywhere = NULL;
    }
    free(named);
    if (fine)
        plan_identify(plan, request);
    else
        plan_free(plan);
    return fine;
}
