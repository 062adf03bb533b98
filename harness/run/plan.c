/* Chooses the cases of a run: its kernels, conventions, inputs and shapes. A request that cannot be met ends the
 * program. */
#include "run/plan.h"
#include "base/arena.h"
#include "base/die.h"
#include "base/hash.h"
#include "base/text.h"
#include "domain/operation.h"
#include "domain/kernel.h"
#include "inputs/inputs.h"
#include "inputs/worst.h"
#include <sched.h>
#include <stdio.h>

enum {
    SWEEP_ROWS = 18,          /* two halves, each with the nine kappas of the offset sweep */
    BLOCK_BYTES = 256 * 1024, /* of a timed group's judged block */
    MOST_BLOCK_BYTES = 1024 * 1024,
    MANY_ROWS = 32,
    FEW_ROWS = 8,
    MOST_SAMPLES = 1000, /* for processes of a shape, and for repetitions of a process */
    THREAD_NUMBERS = 32,
};

/* ---- keys ---- */

/* Returns the key of a case, which is unique within a run. */
static case_key key_of(const ln_convention *convention, const char *label, const char *input,
                       size_t rows, size_t hidden, ln_type dtype, const char *kernel)
{
    case_key key;
    memset(&key, 0, sizeof key); /* zeroes the padding too, since keys are hashed */
    key.operation = convention->operation;
    key.rows = rows;
    key.hidden = hidden;
    key.dtype = dtype;
    key.threads = 1;
    snprintf(key.kernel, sizeof key.kernel, "%s", kernel);
    snprintf(key.convention, sizeof key.convention, "%s", label);
    snprintf(key.input, sizeof key.input, "%s", input);
    return key;
}

case_key accuracy_key(const accuracy_group *group, const kernel_entry *kernel)
{
    return key_of(&group->convention, group->convention_label, group->input, group->rows,
                  group->hidden, group->dtype, kernel->facts.name);
}

case_key speed_key(const speed_group *group, const char *kernel)
{
    case_key key = key_of(&group->convention, group->convention_label, group->input, group->rows,
                          group->hidden, group->dtype, kernel);
    key.cache = group->cache;
    key.threads = group->threads;
    return key;
}

/* ---- options ---- */

/* The options of the request as values, with the plan's own where the request has none. */
typedef struct resolved_plan {
    const plan_request *request;
    const machine_facts *machine;
    bool quick, full, speed, accuracy;
    bool caches[CACHE_STATES];
    unsigned threads[THREAD_NUMBERS]; /* each a number of threads to time with */
    size_t thread_count;
    word_list named;                     /* by the user, for all operations */
    const plan_conventions *conventions; /* of the operation whose cases are being added */
    const char **inputs;
    bool *everywhere; /* the default plan has this input under every convention */
    size_t input_count;
} resolved_plan;

/* Adds a number of threads to time with, unless it is there already. More threads than processors are refused, because
 * they would share processors. */
static void add_threads(const char *given, resolved_plan *resolved)
{
    const bool is_number = given[0] != '0' && given[strspn(given, "0123456789")] == '\0';
    const unsigned long threads = is_number ? strtoul(given, NULL, 10) : 0;
    cpu_set_t set;
    int cpus = sched_getaffinity(0, sizeof set, &set) == 0 ? CPU_COUNT(&set) : 1;
    if (threads == 0)
        die(EXIT_CODE_USAGE, "invalid --threads '%.60s': choose a whole number from 1", given);
    if (threads > (unsigned long)cpus)
        die(EXIT_CODE_ENVIRONMENT, "--threads %.60s: too many: this process may use %d CPU%s",
            given, cpus, cpus == 1 ? "" : "s");
    for (size_t i = 0; i < resolved->thread_count; i++)
        if (resolved->threads[i] == threads)
            return;
    if (resolved->thread_count == THREAD_NUMBERS)
        die(EXIT_CODE_USAGE, "--threads has too many numbers: give at most %d", THREAD_NUMBERS);
    resolved->threads[resolved->thread_count++] = (unsigned)threads;
}

/* Reads all options that are words or numbers. */
static void resolve_options(resolved_plan *resolved)
{
    static const char *const plans[] = {"quick", "default", "full"};
    static const char *const halves[] = {"speed", "accuracy"};
    const plan_request *request = resolved->request;
    const size_t plan = word_chosen("plan", request->name, WORDS(plans));
    const size_t half = request->only ? word_chosen("only", request->only, WORDS(halves)) : 2;
    resolved->quick = plan == 0;
    resolved->full = plan == 2;
    resolved->speed = half != 1;
    resolved->accuracy = half != 0;
    for (size_t i = 0; i < request->dtypes.count; i++)
        word_chosen("dtypes", request->dtypes.words[i], WORDS(dtype_names));
    for (size_t i = 0; i < request->threads.count; i++)
        add_threads(request->threads.words[i], resolved);
    if (request->threads.count == 0)
        add_threads("1", resolved);
    if (request->processes > MOST_SAMPLES || request->repetitions > MOST_SAMPLES)
        die(EXIT_CODE_USAGE, "invalid --%s %llu: choose at most %d",
            request->processes > MOST_SAMPLES ? "processes" : "repetitions",
            (unsigned long long)(request->processes > MOST_SAMPLES ? request->processes
                                                                   : request->repetitions),
            MOST_SAMPLES);
    resolved->caches[CACHE_HOT] = request->caches.count == 0;
    for (size_t i = 0; i < request->caches.count; i++)
        resolved->caches[word_chosen("cache", request->caches.words[i], WORDS(cache_names))] = true;
}

/* ---- conventions ---- */

static void add_convention(word_list *conventions, const char *whose, const char *text)
{
    char list[512];
    bool bare = strchr(text, '=') && strncmp(text, "operation=", 10) != 0;
    bool named = whose && strcmp(whose, "all") != 0;
    snprintf(list, sizeof list, "operation=%.40s,%.440s", named ? whose : "", text);
    word_list_add(conventions, bare && named ? list : text);
}

void split_conventions(const word_list *given, const char *whose, word_list *conventions)
{
    for (size_t i = 0; i < given->count; i++) {
        word_list parts = {0};
        text_buffer current = {0};
        word_list_split(&parts, given->words[i]);
        for (size_t part = 0; part < parts.count; part++) {
            const char *word = parts.words[part];
            size_t key = strcspn(word, "=");
            bool joins = word[key] == '=' && current.length > 0 && strchr(current.bytes, '=') &&
                         strncmp(current.bytes, word, key + 1) != 0;
            if (current.length > 0 && !joins) {
                add_convention(conventions, whose, current.bytes);
                text_free(&current);
            }
            text_add(&current, joins ? "," : "");
            text_add(&current, word);
        }
        if (current.length > 0)
            add_convention(conventions, whose, current.bytes);
        text_free(&current);
        word_list_free(&parts);
    }
}

/* Finds the conventions that the request names, for any operation, and the plan's operations. */
static void resolve_named(resolved_plan *resolved, case_plan *plan)
{
    const plan_request *request = resolved->request;
    unsigned kinds = 0;
    plan->operations = operations_parse(request->operation);
    split_conventions(&request->conventions, request->operation, &resolved->named);
    for (size_t i = 0; i < resolved->named.count; i++) {
        const char *word = resolved->named.words[i];
        ln_operation kind = convention_named(word).operation;
        kinds |= OPERATION_BIT(kind);
        if (request->operation && !(plan->operations & OPERATION_BIT(kind)))
            die(EXIT_CODE_USAGE,
                "--conventions %s is for %s, not for %s: choose one of lnbench list conventions "
                "--operation %s, or use --operation all",
                word, operation_name(kind), request->operation, request->operation);
    }
    if (!request->operation && kinds)
        plan->operations = kinds;
}

/* Finds the conventions of one operation: those that were named, or its presets. */
static void resolve_conventions(resolved_plan *resolved, ln_operation kind, case_plan *plan)
{
    size_t presets;
    const convention_preset *preset = convention_presets(kind, &presets);
    plan_conventions *own = &plan->conventions[kind];
    for (size_t i = 0; i < resolved->named.count; i++)
        if (convention_named(resolved->named.words[i]).operation == kind)
            word_list_add(&own->words, resolved->named.words[i]);
    own->named = own->words.count > 0;
    for (size_t i = 0, same; !own->named && i < presets; i++) {
        for (same = 0;
             same < i && !convention_equal(&preset[same].convention, &preset[i].convention);)
            same++;
        if (same == i) /* two presets may be the same convention */
            word_list_add(&own->words, preset[i].name);
    }
    own->count = own->words.count;
    own->list = arena_new(&plan->memory, ln_convention, own->count);
    resolved->conventions = own;
}

/* ---- kernels ---- */

static bool takes(const kernel_entry *kernel, ln_operation what, ln_type dtype, ln_type param)
{
    const kernel_facts *facts = &kernel->facts;
    return facts->operation == what && facts->storage == dtype && facts->param == param;
}

bool speed_takes(const speed_group *group, const kernel_entry *kernel)
{
    return takes(kernel, group->convention.operation, group->dtype, group->param);
}

bool group_takes(const accuracy_group *group, const kernel_entry *kernel)
{
    bool is_call = strcmp(kernel->facts.role, KERNEL_ROLE_CALL) == 0;
    bool included =
        !group->check || is_call || group->for_ours || strcmp(kernel->source, "builtin") != 0;
    return included && takes(kernel, group->convention.operation, group->dtype, group->param);
}

/* Returns whether the smaller plans leave this kernel out because an earlier line of our table differs only in unroll:
 * the first such line is the best. Kernels of other files stay. */
static bool has_better_line(const kernel_list *kernels, size_t index)
{
    const kernel_facts *own = &kernels->kernels[index].facts;
    bool ours = strcmp(kernels->kernels[index].source, "builtin") == 0;
    bool is_call = strcmp(own->role, KERNEL_ROLE_CALL) == 0; /* its parts are not described */
    for (size_t i = 0; ours && !is_call && i < index; i++) {
        const kernel_facts *other = &kernels->kernels[i].facts;
        if (strcmp(kernels->kernels[i].source, "builtin") == 0 &&
            other->operation == own->operation && other->storage == own->storage &&
            other->param == own->param && other->accumulator == own->accumulator &&
            strcmp(other->statistics, own->statistics) == 0 &&
            strcmp(other->apply, own->apply) == 0 && strcmp(other->schedule, own->schedule) == 0 &&
            strcmp(other->isa, own->isa) == 0)
            return true;
    }
    return false;
}

/* Returns whether the request wants the kernel. Without --dtypes, the full plan has all types, and the smaller ones
 * have f32, kernels of plugins and kernels that the request names in full. */
static bool is_kernel_wanted(const plan_request *request, const kernel_list *kernels, size_t index)
{
    const kernel_entry *kernel = &kernels->kernels[index];
    const kernel_facts *facts = &kernel->facts;
    const bool full = strcmp(request->name, "full") == 0;
    bool is_named = request->kernels.count == 0 && (full || !has_better_line(kernels, index));
    for (size_t glob = 0; glob < request->kernels.count; glob++)
        is_named |= kernel_is_meant(kernel, request->kernels.words[glob]);
    if (!is_named || (request->param && strcmp(request->param, dtype_name(facts->param)) != 0))
        return false;
    if (request->dtypes.count > 0)
        return word_is_in(dtype_name(facts->storage), request->dtypes.words, request->dtypes.count);
    const bool is_brought = strcmp(kernel->source, "builtin") != 0 && kernel->version[0] == '\0';
    return full || facts->storage == LN_F32 || is_brought ||
           word_is_in(facts->name, request->kernels.words, request->kernels.count);
}

/* Checks that a chosen kernel has each requested type, and that one computes the operation of each named convention. */
static void check_chosen(const resolved_plan *resolved, const kernel_list *kernels,
                         const case_plan *plan)
{
    const plan_request *request = resolved->request;
    for (size_t i = 0; i < request->dtypes.count; i++) {
        bool any = false;
        for (size_t kernel = 0; kernel < plan->kernel_count; kernel++)
            any |= strcmp(request->dtypes.words[i],
                          dtype_name(plan->kernels[kernel]->facts.storage)) == 0;
        if (!any)
            die(EXIT_CODE_USAGE, "--dtypes %s%s%s: no kernel of %s takes that type",
                request->dtypes.words[i], request->param ? " --param " : "",
                request->param ? request->param : "",
                request->kernels.count ? "--kernels" : "this build and its plugins");
    }
    for (size_t i = 0; i < kernels->count && request->kernels.count > 0; i++) {
        const kernel_facts *other = &kernels->kernels[i].facts;
        const char *own = operation_name(other->operation);
        if (plan->kernel_count > 0 || (plan->operations & OPERATION_BIT(other->operation)) ||
            !is_kernel_wanted(request, kernels, i))
            continue;
        die(EXIT_CODE_USAGE, "%s computes %s, not %s: use --operation %s%s", other->name, own,
            operation_name((ln_operation)__builtin_ctz(plan->operations)), own,
            request->conventions.count ? " and its --conventions" : "");
    }
    if (plan->kernel_count == 0)
        die(EXIT_CODE_USAGE,
            "no kernel is left: the ones chosen are not f32; name their type with --dtypes");
    for (size_t i = 0; i < resolved->named.count; i++) {
        const ln_convention named = convention_named(resolved->named.words[i]);
        char label[CONVENTION_MAX_LENGTH];
        size_t kernel = 0;
        while (kernel < plan->kernel_count &&
               plan->kernels[kernel]->facts.operation != named.operation)
            kernel++;
        if (kernel == plan->kernel_count)
            die(EXIT_CODE_USAGE,
                "--conventions %s is for %s, which none of the chosen kernels computes: leave it "
                "out, or add kernels that compute it",
                convention_label(&named, label), operation_name(named.operation));
    }
}

/* Chooses the kernels that the request names, of the requested types. */
static void choose_kernels(const resolved_plan *resolved, const kernel_list *kernels,
                           case_plan *plan)
{
    plan->kernels = arena_new(&plan->memory, const kernel_entry *, kernels->count);
    kernel_words_check(kernels, &resolved->request->kernels);
    for (int kind = 0; kind < OPERATIONS; kind++)
        for (size_t i = 0; i < kernels->count; i++)
            if ((int)kernels->kernels[i].facts.operation == kind &&
                (plan->operations & OPERATION_BIT(kind)) &&
                is_kernel_wanted(resolved->request, kernels, i))
                plan->kernels[plan->kernel_count++] = &kernels->kernels[i];
    const kernel_entry **related =
        arena_new(&plan->memory, const kernel_entry *, 2 * kernels->count);
    size_t count = with_families(kernels, plan->kernels, plan->kernel_count, related);
    for (size_t i = 0; i < count; i++)
        plan->related_count += !related[i]->unsupported[0];
    check_chosen(resolved, kernels, plan);
}

void plan_free(case_plan *plan)
{
    for (int kind = 0; kind < OPERATIONS; kind++)
        word_list_free(&plan->conventions[kind].words);
    arena_free(&plan->memory);
    free(plan->accuracy);
    free(plan->speed);
    *plan = (struct case_plan){0};
}

/* ---- the timed shapes ---- */

/* Returns the rows of the judged block that a timed tensor repeats. They are multiples of powers of two if possible, so
 * that each repeat has a row at the same place modulo cache lines and modulo the groups in which a kernel may process
 * rows. */
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

/* Adds a shape under every wanted cache state and number of threads. */
static void add_speed(case_plan *plan, const resolved_plan *resolved, size_t rows, size_t hidden)
{
    const plan_request *request = resolved->request;
    const unsigned processes = resolved->quick ? 3 : 5;
    const unsigned repetitions = resolved->quick ? 2 : resolved->full ? 6 : 3;
    speed_group made = {
        .convention = resolved->conventions->list[0],
        .dtype = plan->adding.dtype,
        .param = plan->adding.param,
        .rows = rows,
        .hidden = hidden,
        .block_rows = rows_of_block(rows, hidden, plan->adding.dtype),
        .processes = request->processes ? (unsigned)request->processes : processes,
        .repetitions = request->repetitions ? (unsigned)request->repetitions : repetitions,
        .min_seconds = resolved->quick ? 0.003 : 0.005,
    };
    /* The plan's own number of repetitions is lowered where that costs no precision, the user's never. */
    made.slow_repetitions = request->repetitions ? made.repetitions : (made.repetitions + 2) / 3;
    snprintf(made.input, sizeof made.input, "%s", request->time_on ? request->time_on : "normal");
    convention_label(&made.convention, made.convention_label);
    for (size_t i = 0; i < resolved->thread_count; i++)
        for (made.cache = CACHE_HOT; made.cache < CACHE_STATES; made.cache++) {
            if (!resolved->caches[made.cache])
                continue;
            made.threads = resolved->threads[i];
            plan->speed = allocate_room(plan->speed, plan->speed_count, sizeof *plan->speed);
            plan->speed[plan->speed_count++] = made;
        }
}

/* Adds typical rows and hidden sizes of each cache level: a few in the quick plan, all in the full one. */
static void plan_speed(const resolved_plan *resolved, case_plan *plan)
{
    static const size_t sizes[] = {64, 256, 768, 1024, 4096, 8192, 12288};
    static const cache_regime turn[REGIMES] = {REGIME_L2, REGIME_L1, REGIME_L3, REGIME_DRAM};
    for (size_t i = 0; i < sizeof sizes / sizeof *sizes; i++) {
        const size_t hidden = sizes[i];
        const bool usual = hidden == 768 || hidden == 4096, full = resolved->full;
        const bool wanted[REGIMES] = {[REGIME_L1] = full,
                                      [REGIME_L2] = true,
                                      [REGIME_L3] = full,
                                      [REGIME_DRAM] = full || (!resolved->quick && usual)};
        for (size_t r = 0; r < REGIMES && (!resolved->quick || hidden == 64 || usual); r++)
            if (wanted[turn[r]])
                add_speed(plan, resolved,
                          machine_rows(resolved->machine, turn[r], plan->adding.operation, hidden,
                                       plan->adding.dtype),
                          hidden);
    }
}

/* ---- the judged inputs ---- */

/* Finds the inputs to judge: those that the user named, or the families that suit the operation. */
static void resolve_inputs(resolved_plan *resolved, case_plan *plan)
{
    const word_list *given = &resolved->request->inputs;
    size_t families;
    const input_family *family = input_families(&families);
    const size_t most = given->count ? given->count : families;
    resolved->inputs = arena_new(&plan->memory, const char *, most);
    resolved->everywhere = arena_new(&plan->memory, bool, most);
    resolved->input_count = 0;
    for (size_t i = 0; i < most; i++) {
        const char *input = given->count ? given->words[i] : family[i].name;
        if (given->count > 0)
            input_check(input);
        if (given->count == 0 && !input_suits(&family[i], plan->adding.operation))
            continue;
        resolved->everywhere[resolved->input_count] = given->count || family[i].everywhere;
        resolved->inputs[resolved->input_count++] = input;
    }
}

size_t distinct_rows(const char *input, size_t rows)
{
    return input_is_worst(input) || rows < SWEEP_ROWS ? rows : SWEEP_ROWS;
}

accuracy_group *plan_add_accuracy(case_plan *plan, const ln_convention *convention,
                                  const char *input, size_t rows, size_t hidden)
{
    plan->accuracy = allocate_room(plan->accuracy, plan->accuracy_count, sizeof *plan->accuracy);
    accuracy_group *group = &plan->accuracy[plan->accuracy_count++];
    *group = (accuracy_group){.convention = *convention,
                              .dtype = plan->adding.dtype,
                              .param = plan->adding.param,
                              .rows = rows,
                              .distinct = distinct_rows(input, rows),
                              .hidden = hidden,
                              .elements = rows * hidden};
    convention_label(convention, group->convention_label);
    snprintf(group->input, sizeof group->input, "%s", input);
    return group;
}

/* Sets the shape of a user's file, so that a bad file is found before anything is measured. A family has no shape of
 * its own: *hidden is 0. */
static void own_shape(const char *input, size_t *rows, size_t *hidden)
{
    *rows = SWEEP_ROWS;
    *hidden = 0;
    if (input_is_file(input))
        input_file_shape(input, rows, hidden);
    *rows = *rows < SWEEP_ROWS ? *rows : SWEEP_ROWS;
}

/* Stores in the plan, and so in the run, which adversarial rows it has. */
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

/* Adds the adversarial rows of all kernels of the type, for every kernel: under the first convention, or under all
 * conventions if the user named the rows. */
static void plan_worst(const resolved_plan *resolved, const char *input, bool named,
                       case_plan *plan)
{
    const plan_conventions *conventions = resolved->conventions;
    worst_shapes found;
    bool of_type = false;
    worst_input_shapes(input, &found);
    for (size_t c = 0; c < (named || resolved->full ? conventions->count : 1); c++)
        for (size_t i = 0; i < found.count; i++) {
            const worst_shape *shape = &found.shapes[i];
            if (shape->type != plan->adding.dtype)
                continue;
            of_type = true;
            plan_add_accuracy(plan, &conventions->list[c], input, shape->rows, shape->hidden);
        }
    note_worst(input, &found, plan);
    free(found.shapes);
    if (named && !of_type)
        die(EXIT_CODE_USAGE,
            "--inputs %s: %s has no adversarial rows of %s: lnbench hunt finds some", input,
            worst_place(input), dtype_name(plan->adding.dtype));
}

/* Adds the edge cases. Rows without eps show what eps would hide: kappa is then the only variable of the kappa sweep,
 * and ties are exact. The full plan also has sums so long that their rounding grows, one row each. Judging a row of 1e7
 * needs about 2 GiB of memory; a smaller machine leaves it out. */
static void plan_edges(const resolved_plan *resolved, const size_t *sizes, size_t size_count,
                       case_plan *plan)
{
    static const size_t long_sizes[] = {100000, 1000000, 10000000};
    static const char *const long_inputs[] = {"normal", "positive"};
    static const double bytes_an_element = 200;
    const double memory = machine_memory(resolved->machine, NULL);
    const ln_convention *first = &resolved->conventions->list[0];
    ln_convention without_eps = *first;
    without_eps.eps_place = LN_EPS_NONE;
    without_eps.eps = 0;
    size_t families;
    const input_family *family = input_families(&families);
    for (size_t s = 0; s < size_count; s++)
        for (size_t i = 0; i < families; i++)
            if (family[i].without_eps && input_suits(&family[i], plan->adding.operation))
                plan_add_accuracy(plan, &without_eps, family[i].name, SWEEP_ROWS, sizes[s]);
    plan_worst(resolved, WORST_INPUT, false, plan);
    for (size_t s = 0; resolved->full && s < sizeof long_sizes / sizeof *long_sizes; s++)
        for (size_t i = 0; i < sizeof long_inputs / sizeof *long_inputs; i++)
            if (memory <= 0 || bytes_an_element * (double)long_sizes[s] < memory / 2)
                plan_add_accuracy(plan, first, long_inputs[i], 1, long_sizes[s]);
}

/* Adds the judged groups of a request without shapes. */
static void plan_accuracy(const resolved_plan *resolved, case_plan *plan)
{
    /* Every convention is judged on every family at one size; the first convention also at sizes with other tails,
     * register tiling and long sums. */
    static const size_t sizes[] = {768, 5, 100, 4096};
    const size_t size_count = sizeof sizes / sizeof *sizes;
    const plan_conventions *conventions = resolved->conventions;
    bool *own = arena_new(&plan->memory, bool, resolved->input_count);
    for (size_t i = 0; i < resolved->input_count; i++) {
        const char *input = resolved->inputs[i];
        size_t rows, hidden = 0;
        own[i] = input_is_worst(input);
        if (own[i])
            plan_worst(resolved, input, true, plan);
        else
            own_shape(input, &rows, &hidden);
        /* A user's file is judged at its own hidden size, under each convention. */
        for (size_t c = 0; hidden > 0 && c < conventions->count; c++)
            plan_add_accuracy(plan, &conventions->list[c], input, rows, hidden);
        own[i] |= hidden > 0;
    }
    for (size_t c = 0; c < conventions->count; c++)
        for (size_t s = 0; s < (!resolved->quick && (c == 0 || resolved->full) ? size_count : 1);
             s++)
            for (size_t i = 0; i < resolved->input_count; i++) {
                /* Inputs that the user named are judged under all conventions. */
                const bool is_wanted = !resolved->quick
                                           ? c == 0 || resolved->full || resolved->everywhere[i]
                                       : c == 0 ? resolved->everywhere[i]
                                                : strcmp(resolved->inputs[i], "normal") == 0;
                if (is_wanted && !own[i])
                    plan_add_accuracy(plan, &conventions->list[c], resolved->inputs[i], SWEEP_ROWS,
                                      sizes[s]);
            }
    if (resolved->request->inputs.count == 0 && !resolved->quick)
        plan_edges(resolved, sizes, size_count, plan);
}

/* Returns the number of rows to judge at a shape. All adversarial rows of that hidden size are judged. */
static size_t judged_rows(const char *input, size_t rows, size_t hidden, case_plan *plan)
{
    worst_shapes found;
    size_t judged = rows < SWEEP_ROWS ? rows : SWEEP_ROWS;
    if (!input_is_worst(input))
        return judged;
    worst_input_shapes(input, &found);
    note_worst(input, &found, plan);
    for (size_t i = 0; i < found.count; i++)
        if (found.shapes[i].type == plan->adding.dtype && found.shapes[i].hidden == hidden)
            judged = found.shapes[i].rows;
    free(found.shapes);
    return judged;
}

/* Adds the shapes that the user named: each is timed, and judged on every input under every convention. */
static void plan_shapes(const resolved_plan *resolved, case_plan *plan)
{
    const word_list *shapes = &resolved->request->shapes;
    bool of_group;
    const double memory = machine_memory(resolved->machine, &of_group);
    for (size_t i = 0; i < shapes->count; i++) {
        size_t rows, hidden, own_rows, own_hidden;
        shape_parse(shapes->words[i], &rows, &hidden);
        /* Timing needs x and y in full size. */
        const double needed =
            call_bytes(operations[plan->adding.operation], rows, hidden, plan->adding.dtype);
        if (memory > 0 && needed >= memory)
            die(EXIT_CODE_ENVIRONMENT,
                "shape %zux%zu: x and y need %.0f MiB; %s %.0f MiB of memory: choose fewer rows",
                rows, hidden, needed / 0x1p20,
                of_group ? "the control group may use" : "this machine has", memory / 0x1p20);
        for (size_t input = 0; resolved->accuracy && input < resolved->input_count; input++) {
            own_shape(resolved->inputs[input], &own_rows, &own_hidden);
            if (own_hidden && own_hidden != hidden)
                die(EXIT_CODE_USAGE, "%s: last axis is %zu long: --shapes %s asks for %zu",
                    resolved->inputs[input], own_hidden, shapes->words[i], hidden);
        }
        if (resolved->speed)
            add_speed(plan, resolved, rows, hidden);
        for (size_t c = 0; resolved->accuracy && c < resolved->conventions->count; c++)
            for (size_t input = 0; input < resolved->input_count; input++) {
                const char *name = resolved->inputs[input];
                /* otherwise timing judges all rows */
                const bool whole = c == 0 && input == 0 && !resolved->speed;
                plan_add_accuracy(plan, &resolved->conventions->list[c], name,
                                  whole ? rows : judged_rows(name, rows, hidden, plan), hidden);
            }
    }
}

/* ---- the identity of a plan ---- */

/* Hashes the contents of inputs that are files, which may change between two runs. Families hash to 0. */
static uint64_t hash_contents(uint64_t hash, const word_list *inputs)
{
    for (size_t i = 0; i < inputs->count; i++) {
        uint64_t contents;
        hash_file(inputs->words[i], &contents);
        hash = hash_bytes(hash, &contents, sizeof contents);
    }
    return hash;
}

static uint64_t hash_word(uint64_t hash, const char *word)
{
    return hash_bytes(hash, word, strlen(word) + 1);
}

/* Hashes words in any order. `fallback` is the meaning of an empty list. */
static uint64_t hash_texts(uint64_t hash, const word_list *words, const char *fallback)
{
    uint64_t sum = words->count == 0 ? hash_word(HASH_START, fallback) : 0;
    for (size_t i = 0; i < words->count; i++) {
        size_t before = 0;
        while (strcmp(words->words[before], words->words[i]) != 0)
            before++;
        sum += before == i ? hash_word(HASH_START, words->words[i]) : 0;
    }
    return hash_bytes(hash, &sum, sizeof sum);
}

/* Hashes the options only, not the available kernels and the numbers of processes and repetitions. */
static uint64_t hash_request(const case_plan *plan, const resolved_plan *resolved)
{
    const plan_request *request = resolved->request;
    const struct {
        const word_list *words;
        const char *fallback;
    } lists[] = {{&request->kernels, ""},
                 {&request->dtypes, ""},
                 {&request->shapes, ""},
                 {&request->inputs, ""},
                 {&request->caches, cache_name(CACHE_HOT)},
                 {&request->threads, "1"}};
    const unsigned others = plan->operations - 1; /* LayerNorm only: 0 */
    char label[CONVENTION_MAX_LENGTH];
    uint64_t hash = hash_word(HASH_START, plan->name);
    hash = hash_bytes(hash, &plan->seed, sizeof plan->seed);
    hash = hash_bytes(hash, &request->settings, sizeof request->settings);
    hash = hash_bytes(hash, &request->conformance, sizeof request->conformance);
    hash = hash_bytes(hash, &others, others ? sizeof others : 0);
    hash = hash_word(hash, request->only ? request->only : "");
    hash = hash_word(hash, request->time_on ? request->time_on : "normal");
    for (size_t i = 0; i < sizeof lists / sizeof *lists; i++)
        hash = hash_texts(hash, lists[i].words, lists[i].fallback);
    hash = hash_contents(hash, &request->inputs);
    /* The order of conventions counts, because the first one is timed. */
    for (size_t i = 0; i < resolved->named.count; i++) {
        const ln_convention named = convention_named(resolved->named.words[i]);
        hash = hash_word(hash, convention_label(&named, label));
    }
    return hash;
}

/* Sets two hashes. That of the plan covers everything that decides what is measured: only a run with the same hash can
 * be resumed. That of the request is the same for two builds of a library. */
static void identify(case_plan *plan, const resolved_plan *resolved)
{
    const uint64_t requested = hash_request(plan, resolved);
    uint64_t hash = hash_bytes(HASH_START, &requested, sizeof requested);
    hash = hash_bytes(hash, &plan->worst_hash, sizeof plan->worst_hash);
    for (size_t i = 0; i < plan->kernel_count; i++) {
        const kernel_entry *kernel = plan->kernels[i];
        hash = hash_word(hash_word(hash, kernel->facts.name), kernel->source);
        hash = hash_bytes(hash, &kernel->object_hash, sizeof kernel->object_hash);
    }
    for (size_t i = 0; i < plan->accuracy_count; i++) {
        const accuracy_group *group = &plan->accuracy[i];
        case_key key = accuracy_key(group, plan->kernels[0]);
        hash = hash_bytes(hash, &key, sizeof key);
        hash = hash_bytes(hash, &group->param, sizeof group->param);
    }
    for (size_t i = 0; i < plan->speed_count; i++) {
        case_key key = speed_key(&plan->speed[i], "");
        hash = hash_bytes(hash, &key, sizeof key);
        unsigned counts[] = {plan->speed[i].processes, plan->speed[i].repetitions,
                             (unsigned)plan->speed[i].param};
        hash = hash_bytes(hash, counts, sizeof counts);
    }
    snprintf(plan->hash, sizeof plan->hash, "%016llx", (unsigned long long)hash);
    snprintf(plan->request_hash, sizeof plan->request_hash, "%016llx",
             (unsigned long long)requested);
}

/* ---- the plan ---- */

bool plan_next_types(case_plan *plan, int *next)
{
    enum { TYPES = LN_F16 + 1 };
    plan_conventions *own = &plan->conventions[plan->adding.operation];
    for (; *next < TYPES * TYPES; ++*next) {
        plan->adding.dtype = (ln_type)(*next / TYPES);
        plan->adding.param = (ln_type)(*next % TYPES);
        for (size_t i = 0; i < plan->kernel_count; i++) {
            if (!takes(plan->kernels[i], plan->adding.operation, plan->adding.dtype,
                       plan->adding.param))
                continue;
            for (size_t c = 0; c < own->count; c++)
                own->list[c] = convention_for(own->words.words[c], plan->adding.dtype);
            ++*next;
            return true;
        }
    }
    return false;
}

/* Adds the groups of one pair of types. */
static void plan_types(case_plan *plan, const resolved_plan *resolved)
{
    const plan_request *request = resolved->request;
    for (size_t i = 0; i < resolved->input_count; i++)
        input_check_type(resolved->inputs[i], plan->adding.dtype);
    if (resolved->speed && request->time_on)
        input_check_type(request->time_on, plan->adding.dtype);
    if (request->shapes.count > 0)
        plan_shapes(resolved, plan);
    if (request->shapes.count == 0 && resolved->accuracy)
        plan_accuracy(resolved, plan);
    if (request->shapes.count == 0 && resolved->speed)
        plan_speed(resolved, plan);
}

void plan_make(const plan_request *request, const kernel_list *kernels,
               const machine_facts *machine, case_plan *plan)
{
    resolved_plan resolved = {.request = request, .machine = machine};
    *plan = (struct case_plan){.seed = request->seed};
    resolve_options(&resolved);
    plan->quick = resolved.quick;
    plan->full = resolved.full;
    plan->conformance = request->conformance && resolved.accuracy;
    plan->few_checks = request->few_checks;
    snprintf(plan->name, sizeof plan->name, "%s", request->name);
    resolve_named(&resolved, plan);
    choose_kernels(&resolved, kernels, plan);
    for (int kind = 0; kind < OPERATIONS; kind++) {
        if (!(plan->operations & OPERATION_BIT(kind)))
            continue;
        plan->adding.operation = (ln_operation)kind;
        resolve_conventions(&resolved, plan->adding.operation, plan);
        resolve_inputs(&resolved, plan);
        for (int next = 0; plan_next_types(plan, &next);)
            plan_types(plan, &resolved);
    }
    identify(plan, &resolved);
    word_list_free(&resolved.named);
}
