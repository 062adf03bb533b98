/* The loop over all candidates, the answer, and the one more row that would tell those that are left apart.
 *
 * Rows of +-s in turn have the biased variance s^2 exactly (odd rows, with a 0 at their end, s^2 (N - 1) /
 * N), so a power of two s near an eps, or near its root, is where places and sizes of eps show. */
#include "judge/fingerprint/internal.h"
#include "base/number.h"
#include "domain/convention.h"
#include "judge/rmsnorm/rmsnorm.h"
#include <stdio.h>

enum { CASTS = 3, FAMILIES_MOST = AFFINES_MOST * CASTS };

typedef struct engine {
    const which_input *input;
    which_input typed; /* with the type that y was really rounded to */
    layout all;
    row_maker maker;
    range *y; /* what may have been rounded to each element, or printed as it */
    family families[2][FAMILIES_MOST];
    size_t counts[2];
    size_t told[2]; /* rows of the last axis, by operation */
    double once;    /* bits that tell against rounding each step: hold_step() */
    which_found *found;
} engine;

/* ---- eps ---- */

/* The more usual, the earlier. */
static const double usual_sizes[] = {1e-5, 1e-6, 1e-12, 1e-3,  1e-8, 0x1p-23, 1e-7,
                                     1e-4, 1e-9, 1e-10, 1e-11, 1e-2, 1e-15};
enum { usual_count = sizeof usual_sizes / sizeof *usual_sizes };

/* The decimal with the fewest digits within [low, high], of these the nearest to the middle. */
static double shortest_decimal(double low, double high)
{
    double middle = sqrt(low * high);
    for (int digits = 1; digits < 17; digits++) {
        double unit = pow(10, floor(log10(high)) - (digits - 1));
        double first = ceil(low / unit), last = floor(high / unit);
        if (!(first <= last) || last < 1)
            continue;
        double multiple = fmin(last, fmax(first, nearbyint(middle / unit)));
        char written[48];
        snprintf(written, sizeof written, "%.0fe%d", multiple, (int)lrint(log10(unit)));
        double best = number_read(written, NULL);
        if (best > 0)
            return best;
    }
    return middle;
}

static double usual_eps(double low, double high)
{
    for (size_t i = 0; i < usual_count; i++)
        if (usual_sizes[i] >= low && usual_sizes[i] <= high)
            return usual_sizes[i];
    if (isinf(high))
        return low > 0 ? low : usual_sizes[0];
    return shortest_decimal(low > 0 ? low : high / 10, high);
}

/* ---- y ---- */

static void make_ranges(engine *own)
{
    const which_input *input = &own->typed;
    double half = 0.5 * pow(10, -input->digits);
    for (size_t i = 0; i < own->all.elements; i++) {
        double y = input->y[i], read = fabs(y) * (own->input->y_type == LN_F64 ? 0x1p-52 : 0x1p-23);
        own->y[i] = input->digits == WHICH_EXACT || !isfinite(y)
                        ? rounded_from(input->y_type, y)
                        : (range){y - half - read, y + half + read};
    }
}

/* ---- what explains y ---- */

enum { SURE = 64 };

/* Of one function, rounded at other places. */
static bool is_same_function(const which_candidate *a, const which_candidate *b)
{
    return a->kind == b->kind && a->family == b->family &&
           a->convention.eps_place == b->convention.eps_place;
}

/* Rounding each step explains what rounding once does, and more sizes of eps: the same function then has all
 * of them. Where it was rounded is sure from so many elements on: any other place moves a quarter of them. */
static bool widen_known(const engine *own, const which_candidate *one)
{
    bool known = false;
    for (size_t i = 0; own->maker.coarse && i < own->found->count; i++) {
        which_candidate *other = &own->found->candidates[i];
        if (!is_same_function(one, other))
            continue;
        other->eps_low = fmin(other->eps_low, one->eps_low);
        other->eps_high = fmax(other->eps_high, one->eps_high);
        known =
            known || own->all.elements >= SURE ||
            (other->source == one->source && one->convention.operation == LN_OPERATION_LAYERNORM);
    }
    return known;
}

static void add_candidate(const engine *own, const which_candidate *one)
{
    which_found *found = own->found;
    if (widen_known(own, one))
        return;
    found->candidates = allocate_room(found->candidates, found->count, sizeof *found->candidates);
    found->candidates[found->count++] = *one;
}

/* Of 0 / 0 rows that only some candidates have, no more is said than their class. */
static void add_words(which_candidate *one, const char *words)
{
    size_t length = strlen(one->words);
    if (*words)
        snprintf(one->words + length, sizeof one->words - length, "%s%s", length ? "; " : "",
                 words);
}

static ln_affine form_of(const which_input *input, const affine *with)
{
    bool scalar = input->parameters == 1 && input->shape[input->dimensions - 1] != 1;
    return with->use == USE_NONE                                        ? LN_AFFINE_NONE
           : scalar                                                     ? LN_AFFINE_SCALAR
           : with->use == USE_OFFSET || with->use == USE_OFFSET_ROUNDED ? LN_AFFINE_GAMMA1
           : with->use == USE_GAMMA || !input->beta                     ? LN_AFFINE_GAMMA
                                                                        : LN_AFFINE_VECTOR;
}

static ln_convention layernorm_of(const which_input *input, const family *one, size_t divisor)
{
    return (ln_convention){.ddof = (int)divisor, .affine = form_of(input, one->with)};
}

static ln_convention rmsnorm_of(const which_input *input, const family *one, size_t root,
                                ln_rms_sum sum)
{
    affine_use use = one->with->use;
    ln_rms_weight weight = use == USE_NONE || !input->gamma || use == USE_BETA ? LN_RMS_WEIGHT_NONE
                           : use == USE_OFFSET         ? LN_RMS_WEIGHT_OFFSET
                           : use == USE_OFFSET_ROUNDED ? LN_RMS_WEIGHT_OFFSET_ROUNDED
                                                       : LN_RMS_WEIGHT;
    return (ln_convention){.operation = LN_OPERATION_RMSNORM,
                           .weight = weight,
                           .cast = one->casts && one->cast == input->x_type && weight,
                           .root = (int)root,
                           .sum = sum};
}

/* What no convention says of gamma and beta. */
static const char *affine_words(const which_input *input, const affine *with, bool rms)
{
    bool gamma = input->gamma, beta = input->beta;
    switch (with->use) {
    case USE_NONE:
        return gamma && beta ? "gamma and beta left out"
               : gamma       ? "gamma left out"
               : beta        ? "beta left out"
                             : "";
    case USE_GAMMA:
        return rms ? "" : "beta left out";
    case USE_BETA:
        return "gamma left out";
    case USE_TWICE:
        return beta ? "gamma and beta applied twice" : "gamma applied twice";
    case USE_BETA_FIRST:
        return "beta added before gamma multiplies";
    case USE_SWAPPED:
        return "gamma and beta swapped";
    case USE_MINUS_BETA:
        return "beta subtracted";
    case USE_OFFSET:
        return form_of(input, with) == LN_AFFINE_SCALAR ? "1 + gamma" : "";
    default:
        return rms && beta ? "beta added" : "";
    }
}

/* The number of its function, wherever it was rounded: of the type of y, what is normalised, and how gamma
 * and beta are used. The divisor's is added in add_normalised(). */
static void mark_family(const engine *own, const family *with, const reduction *over,
                        const source *from, which_candidate *one)
{
    size_t number = (size_t)own->typed.y_type;
    affine_use use = with->with->use == USE_OFFSET_ROUNDED ? USE_OFFSET : with->with->use;
    number = number * REDUCTIONS_MOST + (size_t)(over - own->all.reductions);
    number = number * USES + (size_t)use;
    number = number * (WHICH_AXES + 1) + (size_t)(with->with->axis + 1);
    number = number * 4 + (size_t)with->kind * 2 + (from->rank == RANK_ALONE);
    one->family += number * 2;
    one->source = (size_t)(from - own->all.sources);
}

static void describe_candidate(const engine *own, const family *with, const reduction *over,
                               const source *from, which_candidate *one)
{
    const which_input *input = &own->typed;
    bool rms = with->kind == LN_OPERATION_RMSNORM;
    char label[CONVENTION_MAX_LENGTH], words[64];
    if (one->kind == WHICH_NORMALISED)
        add_words(one, convention_label(&one->convention, label));
    else
        add_words(one, one->kind == WHICH_COPIED    ? "x as it is, not normalised"
                       : one->kind == WHICH_CENTRED ? "x - mean, not divided"
                                                    : "softmax");
    if (one->kind != WHICH_COPIED)
        add_words(one, over->words);
    add_words(one, from->words);
    if (from->sum == LN_RMS_SUM_UNROUNDED && !rms)
        add_words(one, "x + residual not rounded before it is normalised");
    add_words(one, affine_words(input, with->with, rms));
    if (with->with->axis >= 0 && with->with->use != USE_NONE) {
        snprintf(words, sizeof words, "gamma and beta along axis %d", with->with->axis);
        add_words(one, words);
    }
    if (with->casts && !(rms && with->cast == input->x_type)) {
        snprintf(words, sizeof words, "xhat rounded to %s", dtype_name(with->cast));
        add_words(one, words);
    }
    if (input->y_type != own->input->y_type && input->digits == WHICH_EXACT) {
        snprintf(words, sizeof words, "output rounded to %s", dtype_name(input->y_type));
        add_words(one, words);
    }
    if (own->maker.coarse) {
        snprintf(words, sizeof words, "each step rounded to %s", dtype_name(own->maker.step));
        add_words(one, words);
    }
    mark_family(own, with, over, from, one);
    one->rank += over->rank + from->rank + (with->casts && !rms ? 4 : 0) +
                 (with->with->use == USE_ALL    ? 0
                  : with->with->use <= USE_BETA ? 1
                                                : 3) +
                 (with->with->axis >= 0 ? 2 : 0);
}

static size_t usualness(double eps)
{
    size_t place = 0;
    while (place < usual_count && usual_sizes[place] != eps)
        place++;
    return place;
}

/* The eps that somebody has, if one is in the interval: of presets that of the most usual size. */
static bool take_preset(which_candidate *one)
{
    size_t count;
    const convention_preset *presets = convention_presets(one->convention.operation, &count);
    bool found = false;
    for (size_t i = 0; i < count; i++) {
        ln_convention same = one->convention;
        same.eps = presets[i].convention.eps;
        if (same.eps >= one->eps_low && same.eps <= one->eps_high &&
            convention_equal(&same, &presets[i].convention) &&
            (!found || usualness(same.eps) < usualness(one->convention.eps))) {
            one->convention = same;
            found = true;
        }
    }
    return found;
}

/* Without what makes no difference to rows of these types. */
static ln_convention as_computed(const which_input *input, ln_convention convention)
{
    if (convention.operation != LN_OPERATION_RMSNORM)
        return convention;
    bool is_short = dtype_size(input->x_type) == 2;
    if (!is_short) {
        convention.root = convention.cast = 0;
        if (convention.weight == LN_RMS_WEIGHT_OFFSET_ROUNDED)
            convention.weight = LN_RMS_WEIGHT_OFFSET;
    }
    if (!input->residual)
        convention.sum = LN_RMS_SUM_ROUNDED;
    return convention;
}

/* All other presets that the candidate may be: the same, the same to these types, and those of another eps
 * in the interval. */
static void add_also(const which_input *input, which_candidate *one)
{
    enum { SAME, AS_COMPUTED, OTHER_EPS, WAYS };
    char label[CONVENTION_MAX_LENGTH], leads[WAYS][48];
    size_t count, length = 0;
    const convention_preset *presets = convention_presets(one->convention.operation, &count);
    const ln_convention own = as_computed(input, one->convention);
    convention_label(&one->convention, label);
    snprintf(leads[SAME], sizeof *leads, "= ");
    snprintf(leads[AS_COMPUTED], sizeof *leads, "in %s also ", dtype_name(input->x_type));
    snprintf(leads[OTHER_EPS], sizeof *leads, "with their eps ");
    for (int way = SAME; way < WAYS; way++)
        for (size_t i = 0, said = 0; i < count && length < sizeof one->also; i++) {
            const ln_convention *theirs = &presets[i].convention;
            ln_convention same = as_computed(input, *theirs);
            bool inside = same.eps >= one->eps_low && same.eps <= one->eps_high;
            int found = convention_equal(theirs, &one->convention) ? SAME
                        : same.eps == own.eps                      ? AS_COMPUTED
                                                                   : OTHER_EPS;
            same.eps = own.eps;
            if (found != way || !inside || !convention_equal(&same, &own) ||
                strcmp(presets[i].name, label) == 0)
                continue;
            length += (size_t)snprintf(one->also + length, sizeof one->also - length, "%s%s%s",
                                       said     ? ", "
                                       : length ? "; "
                                                : "",
                                       said ? "" : leads[way], presets[i].name);
            said++;
        }
}

bool which_is_among(const which_input *input, const which_found *found,
                    const ln_convention *convention)
{
    ln_convention asked = as_computed(input, *convention);
    for (size_t i = 0; i < found->count; i++) {
        const which_candidate *one = &found->candidates[i];
        char label[CONVENTION_MAX_LENGTH];
        ln_convention own = as_computed(input, one->convention);
        convention_label(&one->convention, label);
        own.eps = asked.eps;
        if (asked.eps >= one->eps_low && asked.eps <= one->eps_high &&
            convention_equal(&asked, &own) && strcmp(one->words, label) == 0)
            return true;
    }
    return false;
}

static void add_normalised(engine *own, const family *with, const reduction *over,
                           const source *from, ln_convention convention, const range *eps)
{
    which_candidate one = {.convention = convention,
                           .eps_low = eps->low,
                           .eps_high = eps->high,
                           .plain = over->last && from == own->all.sources,
                           .family = with->kind == LN_OPERATION_LAYERNORM && convention.ddof == 1};
    bool preset = take_preset(&one), usual = false;
    if (!preset && convention.eps_place != LN_EPS_NONE)
        one.convention.eps = usual_eps(eps->low, eps->high);
    for (size_t i = 0; i < usual_count; i++)
        usual = usual || one.convention.eps == usual_sizes[i];
    one.rank = -1;
    describe_candidate(own, with, over, from, &one);
    one.rank = 3 * (one.rank + 1) + (preset ? 0 : usual || convention.eps == 0 ? 1 : 2);
    add_candidate(own, &one);
}

static void add_family(engine *own, const family *with, const reduction *over, const source *from)
{
    const bool layernorm = with->kind == LN_OPERATION_LAYERNORM;
    own->once = fmax(own->once, with->bits - with->most_bits);
    for (size_t d = 0; d < 2; d++) {
        ln_convention convention = layernorm ? layernorm_of(&own->typed, with, d)
                                             : rmsnorm_of(&own->typed, with, d, from->sum);
        bool without = with->eps[d][0].low <= 0 && with->eps[d][0].high >= 0;
        if (without)
            add_normalised(own, with, over, from, convention, &(range){0, 0});
        for (int place = LN_EPS_VAR; place <= LN_EPS_QUOTIENT; place++) {
            range eps = with->eps[d][place - 1];
            convention.eps_place = (ln_eps_place)place;
            eps.low = fmax(eps.low, 0);
            if (eps.low <= eps.high && eps.high > 0)
                add_normalised(own, with, over, from, convention, &eps);
        }
    }
    if (with->whole) {
        which_candidate one = {.kind = layernorm ? WHICH_CENTRED : WHICH_COPIED};
        describe_candidate(own, with, over, from, &one);
        one.rank = 3 * one.rank;
        add_candidate(own, &one);
    }
}

/* ---- softmax ---- */

/* exp and a sum of N numbers: (N + 8) u, and |x - max| u of exp's argument. NaN makes all NaN. */
static bool is_softmax(const engine *own, const reduction *over, const source *from, size_t group)
{
    double most = -INFINITY, sum = 0, unit = unit_roundoff(own->maker.sums);
    for (size_t i = 0; i < over->length; i++)
        most = fmax(most, from->values[over->outer[group] + over->inner[i]]);
    for (size_t i = 0; i < over->length; i++)
        sum += exp(from->values[over->outer[group] + over->inner[i]] - most);
    for (size_t i = 0; i < over->length; i++) {
        size_t at = over->outer[group] + over->inner[i];
        double down = from->values[at] - most, exact = exp(down) / sum;
        double off = exact * 2 * unit * ((double)over->length + 8 + fabs(down));
        if (isnan(exact) ? !isnan(own->y[at].low)
                         : !(exact + off >= own->y[at].low && exact - off <= own->y[at].high))
            return false;
    }
    return true;
}

static void try_softmax(engine *own, const reduction *over, const source *from)
{
    static const affine none = {.use = USE_ALL, .axis = -1};
    const family with = {.kind = LN_OPERATION_LAYERNORM, .with = &none};
    which_candidate one = {.kind = WHICH_SOFTMAX};
    own->found->tried++;
    for (size_t g = 0; g < over->groups; g++)
        if (!is_softmax(own, over, from, g))
            return;
    describe_candidate(own, &with, over, from, &one);
    one.rank *= 3;
    add_candidate(own, &one);
}

/* ---- the loop ---- */

static void begin_families(engine *own, const reduction *over, const source *from)
{
    static const ln_type casts[CASTS] = {LN_F32, LN_BF16, LN_F16};
    const which_input *input = &own->typed;
    bool is_short = dtype_size(input->x_type) == 2;
    for (int kind = 0; kind < 2; kind++) {
        own->counts[kind] = 0;
        for (size_t a = 0; a < own->all.affine_count; a++)
            for (size_t c = 0; c < CASTS; c++) {
                const affine *with = &own->all.affines[a];
                if ((own->maker.coarse && (c > 0 || with->use == USE_OFFSET_ROUNDED)) ||
                    (c > 0 && (with->trivial || with->use == USE_NONE ||
                               (is_short && casts[c] != input->x_type))) ||
                    (kind == LN_OPERATION_LAYERNORM &&
                     (from->sum == LN_RMS_SUM_SQUARES || with->use == USE_OFFSET_ROUNDED)))
                    continue;
                family *one = &own->families[kind][own->counts[kind]++];
                /* x itself is the same over any axes. */
                *one = (family){.kind = (ln_operation)kind,
                                .with = with,
                                .casts = c > 0,
                                .cast = casts[c],
                                .rounds_root = is_short && !own->maker.coarse,
                                .root = input->x_type,
                                .out = input->y_type,
                                .whole = c == 0 && (kind == LN_OPERATION_LAYERNORM || over->last)};
                family_begin(one);
                own->found->tried += kind == LN_OPERATION_LAYERNORM || is_short ? 7 : 4;
            }
    }
}

/* One group of places against all families of an operation that are left; *left: any is. */
static void hold_group(engine *own, int kind, const reduction *over, const source *from, size_t g,
                       bool *left)
{
    bool plain = over->last && from == own->all.sources, any = false;
    exact_row row;
    for (size_t i = 0; i < own->counts[kind]; i++)
        any = any || own->families[kind][i].alive;
    if (!any && !plain)
        return;
    row_make(&own->maker, (ln_operation)kind, over, from, g, &row);
    own->told[kind] += plain && row.tells;
    for (size_t i = 0; i < own->counts[kind]; i++) {
        family *one = &own->families[kind][i];
        if (one->alive)
            family_hold(one, &row, over->inner, over->outer[g], own->y,
                        unit_roundoff(own->maker.sums));
        *left = *left || one->alive;
    }
}

static void try_reduction(engine *own, const reduction *over, const source *from)
{
    const bool plain = over->last && from == own->all.sources;
    bool left = true;
    begin_families(own, over, from);
    if (over->length < 2)
        return;
    for (size_t g = 0; (left || plain) && g < over->groups; g++) {
        if (left && over->last)
            own->found->last_row = g > own->found->last_row ? g : own->found->last_row;
        left = false;
        for (int kind = 0; kind < 2; kind++)
            hold_group(own, kind, over, from, g, &left);
    }
    for (int kind = 0; kind < 2; kind++)
        for (size_t i = 0; i < own->counts[kind]; i++)
            if (own->families[kind][i].alive)
                add_family(own, &own->families[kind][i], over, from);
    if (over->single && from == own->all.sources && !own->maker.coarse)
        try_softmax(own, over, from);
}

static bool is_of_step(const engine *own, const source *from)
{
    for (size_t i = 0; i < own->all.elements; i++)
        if (!isnan(from->values[i]) &&
            stored_in(own->maker.step, from->values[i]) != from->values[i])
            return false;
    return from->sum == 0;
}

/* Steps are rounded to the type of what is normalised; to another one only where nothing else is left. */
static void try_all(engine *own)
{
    const bool any = own->found->count == 0;
    const size_t told[2] = {own->told[0], own->told[1]};
    own->told[0] = own->told[1] = 0;
    for (size_t s = 0; s < own->all.source_count; s++)
        for (size_t r = 0; r < own->all.reduction_count; r++)
            if (!own->maker.coarse || any || is_of_step(own, &own->all.sources[s]))
                try_reduction(own, &own->all.reductions[r], &own->all.sources[s]);
    for (int kind = 0; kind < 2; kind++)
        own->told[kind] = told[kind] > own->told[kind] ? told[kind] : own->told[kind];
}

/* ---- the answer ---- */

static int by_rank(const void *left, const void *right)
{
    const which_candidate *a = left, *b = right;
    return a->rank != b->rank ? a->rank - b->rank : strcmp(a->words, b->words);
}

/* The size of eps too, to a quarter. */
static bool is_named(const which_candidate *one)
{
    double eps = one->convention.eps;
    return one->kind != WHICH_NORMALISED || one->convention.eps_place == LN_EPS_NONE ||
           (one->eps_low > 0.75 * eps && one->eps_high < 1.25 * eps);
}

/* Once as a row whose output alone is rounded, then as one that rounds each step: where y is of the 16-bit
 * type and its rows do not tell, or where nothing else explains it. */
static void find_all(engine *own)
{
    enum { SURE_BITS = 24 };
    static const ln_type steps[] = {LN_BF16, LN_F16};
    own->maker.coarse = false;
    own->maker.sums = own->typed.y_type == LN_F64 ? LN_F64 : LN_F32;
    own->once = 0;
    make_ranges(own);
    try_all(own);
    for (size_t i = 0; i < 2; i++) {
        if (own->typed.y_type != steps[i] &&
            (own->typed.x_type != steps[i] || own->found->count > 0))
            continue;
        if (own->once >= SURE_BITS && own->all.elements >= SURE)
            break;
        own->maker.coarse = true;
        own->maker.step = steps[i];
        try_all(own);
    }
}

static size_t told_of(const engine *own)
{
    const which_found *found = own->found;
    size_t most = 0;
    for (int kind = 0; kind < 2; kind++) {
        bool is_left = found->count == 0;
        for (size_t i = 0; i < found->count; i++)
            is_left = is_left || (int)found->candidates[i].convention.operation == kind;
        if (is_left && own->told[kind] > most)
            most = own->told[kind];
    }
    return most;
}

/* Whether every y is a number of the type; *telling: how many of them are no powers of two, which all types
 * have. */
static bool holds_all(const double *y, size_t count, ln_type type, size_t *telling)
{
    int exponent;
    *telling = 0;
    for (size_t i = 0; i < count; i++) {
        if (isnan(y[i]))
            continue;
        if (stored_in(type, y[i]) != y[i])
            return false;
        *telling += isfinite(y[i]) && fabs(frexp(y[i], &exponent)) != 0.5 && y[i] != 0 &&
                    (i == 0 || fabs(y[i]) != fabs(y[i - 1]));
    }
    return true;
}

/* Whether every y may be a printed f32: else the black box computed in f64. */
static bool may_be_f32(const which_input *input, size_t count)
{
    double half = 0.5 * pow(10, -input->digits) * (1 + 1e-6);
    for (size_t i = 0; i < count; i++)
        if (fabs(input->y[i] - (double)(float)input->y[i]) > half)
            return false;
    return true;
}

/* An output may have been rounded to a shorter type than it is kept in. Where too few elements tell which,
 * all types that hold them stay: a longer one goes where that chance is below 2^-48. */
static size_t rounded_types(const which_input *input, size_t count, ln_type made[4])
{
    static const ln_type types[] = {LN_BF16, LN_F16, LN_F32, LN_F64};
    enum { TOLD_BITS = 48 };
    size_t telling, kept = 0, bits[4];
    if (input->digits != WHICH_EXACT) {
        made[0] = may_be_f32(input, count) ? LN_F32 : LN_F64;
        return 1;
    }
    for (size_t t = 0; t < 4; t++) {
        bool own = types[t] == input->y_type, known = true;
        if ((!own && dtype_size(types[t]) >= dtype_size(input->y_type)) ||
            (!holds_all(input->y, count, types[t], &telling) && !own))
            continue;
        for (size_t k = 0; k < kept; k++)
            known = known && bits[k] * (size_t)(format_of(types[t]).precision -
                                                format_of(made[k]).precision) <
                                 TOLD_BITS;
        if (!known)
            continue;
        bits[kept] = telling;
        made[kept++] = types[t];
    }
    return kept;
}

float which_probe_value(float scale, size_t hidden, size_t i)
{
    if (i + 1 == hidden && hidden % 2 == 1)
        return 0;
    return i % 2 == 0 ? scale : -scale;
}

enum { FIRST_SCALE = -48, LAST_SCALE = 24, MEMBERS_MOST = 96 };

/* A candidate with one size of eps. */
typedef struct member {
    const which_candidate *own;
    double eps;
} member;

/* What a +-scale row comes to: its largest element, less any quotient's eps, and that eps. */
static range answer_of(const member *one, size_t hidden, double scale)
{
    const ln_convention *convention = &one->own->convention;
    double n = (double)hidden, share = hidden % 2 == 1 ? (n - 1) / n : 1;
    bool layernorm = convention->operation == LN_OPERATION_LAYERNORM;
    double var = scale * scale * share * (layernorm && convention->ddof == 1 ? n / (n - 1) : 1);
    double root = convention->eps_place == LN_EPS_VAR   ? sqrt(var + one->eps)
                  : convention->eps_place == LN_EPS_STD ? sqrt(var) + one->eps
                                                        : sqrt(var);
    return (range){scale / root, convention->eps_place == LN_EPS_QUOTIENT ? one->eps : 0};
}

static size_t pairs_told(const member *all, size_t count, size_t hidden, double scale, double off)
{
    size_t told = 0;
    for (size_t a = 0; a < count; a++)
        for (size_t b = 0; b < a; b++) {
            range one = answer_of(&all[a], hidden, scale),
                  other = answer_of(&all[b], hidden, scale);
            told += all[a].own->plain && all[b].own->plain &&
                    (fabs(one.low - other.low) > off * fmax(one.low, other.low) ||
                     fabs(one.high - other.high) > off);
        }
    return told;
}

/* How many there are; those beyond MEMBERS_MOST are not kept, and no pair of theirs is told apart. */
static size_t members_of(const which_found *found, member *all)
{
    size_t count = 0;
    for (size_t i = 0; i < found->count; i++) {
        const which_candidate *one = &found->candidates[i];
        if (count < MEMBERS_MOST)
            all[count] = (member){one, one->convention.eps};
        count++;
        for (size_t u = 0; u < usual_count; u++)
            if (usual_sizes[u] >= one->eps_low && usual_sizes[u] <= one->eps_high &&
                usual_sizes[u] != one->convention.eps) {
                if (count < MEMBERS_MOST)
                    all[count] = (member){one, usual_sizes[u]};
                count++;
            }
    }
    return count;
}

/* A pair counts as told apart from eight times what rounding may do: the last one, and that of rstd as all
 * textbook ways have it (judge/layernorm/textbook.c). */
static void find_probe(size_t hidden, ln_type sums, ln_type out, which_found *found)
{
    member all[MEMBERS_MOST];
    size_t count = members_of(found, all), best = 0;
    size_t kept = count < MEMBERS_MOST ? count : MEMBERS_MOST;
    double off =
        8 * (fmax(4, 2 + sqrt((double)hidden) / 2) * unit_roundoff(sums) + 2 * unit_roundoff(out));
    found->pairs = found->pairs_left = count * (count - 1) / 2;
    for (int i = FIRST_SCALE; hidden > 1 && found->answer == WHICH_OPEN && i <= LAST_SCALE; i++) {
        size_t told = pairs_told(all, kept, hidden, ldexp(1, i), off);
        if (told > 0 && told >= best) {
            best = told;
            found->probe = (float)ldexp(1, i);
        }
    }
    found->pairs_left -= best;
}

void which_make(const which_input *input, which_found *found)
{
    check_parameters(input);
    engine *own = allocate_zeroed(1, sizeof *own);
    *found = (which_found){0};
    own->input = input;
    own->typed = *input;
    own->found = found;
    layout_make(input, &own->all);
    layout *all = &own->all;
    ln_type types[4];
    size_t count = rounded_types(input, all->elements, types), most = 1;
    for (size_t r = 0; r < all->reduction_count; r++)
        most = all->reductions[r].length > most ? all->reductions[r].length : most;
    own->y = arena_new(&all->memory, range, all->elements);
    own->maker = (row_maker){.input = &own->typed,
                             .reference = ln_reference_create(),
                             .typed = arena_new(&all->memory, double, most),
                             .rounded = arena_new(&all->memory, double, most),
                             .values = arena_new(&all->memory, double, most),
                             .z = arena_new(&all->memory, double, most)};
    if (!own->maker.reference)
        memory_is_out(0);
    found->rows = all->reductions[0].groups;
    for (size_t t = 0; t < count; t++) {
        own->typed.y_type = types[t];
        find_all(own);
    }
    found->told = told_of(own);
    for (size_t i = 0; i < found->count; i++) /* now that its eps is known */
        if (found->candidates[i].kind == WHICH_NORMALISED)
            add_also(input, &found->candidates[i]);
    if (found->count > 0) {
        qsort(found->candidates, found->count, sizeof *found->candidates, by_rank);
        found->answer = WHICH_NAMED;
        for (size_t i = 0; i < found->count; i++)
            if (!is_named(&found->candidates[i]) ||
                !is_same_function(&found->candidates[0], &found->candidates[i]))
                found->answer = WHICH_OPEN;
        find_probe(all->reductions[0].length, own->maker.sums, own->typed.y_type, found);
    }
    ln_reference_destroy(own->maker.reference);
    free(own->maker.book.terms);
    arena_free(&all->memory);
    free(own);
}

void which_free(which_found *found)
{
    free(found->candidates);
    *found = (which_found){0};
}

/* ---- in words ---- */

const char *which_answer_name(which_answer answer)
{
    static const char *const names[] = {"none", "open", "named"};
    return names[answer];
}

exit_code which_exit_code(which_answer answer)
{
    static const exit_code codes[] = {EXIT_CODE_ACCURACY, EXIT_CODE_INCONCLUSIVE, EXIT_CODE_FINE};
    return codes[answer];
}

const char *which_say(const which_found *found, char *buffer, size_t size)
{
    bool named = found->answer == WHICH_NAMED;
    size_t said = named ? 1 : 4;
    size_t length = (size_t)snprintf(buffer, size, "%s: ", which_answer_name(found->answer));
    if (found->answer == WHICH_NONE)
        snprintf(buffer, size, "none of %zu candidates explains y", found->tried);
    for (size_t i = 0; i < found->count && i < said && length < size; i++)
        length += (size_t)snprintf(buffer + length, size - length, "%s%s", i ? "; or " : "",
                                   found->candidates[i].words);
    if (found->count > said && length < size && named)
        snprintf(buffer + length, size - length, " (where values were rounded is open)");
    else if (found->count > said && length < size)
        snprintf(buffer + length, size - length, "; or %zu more", found->count - said);
    return buffer;
}
