/* What may have been normalised: sets of axes, x or its sum with a residual, and the ways to use gamma and
 * beta. Two that come to the same on these tensors are one. */
#include "base/die.h"
#include "judge/fingerprint/internal.h"
#include <stdio.h>

/* ---- reductions ---- */

typedef struct axes {
    size_t count, extent[SPLIT_AXES], stride[SPLIT_AXES];
    bool over[SPLIT_AXES];
} axes;

/* The offsets of every place in the axes that are, or are not, normalised over. */
static size_t *offsets_of(arena *memory, const axes *all, bool over, size_t *count)
{
    *count = 1;
    for (size_t a = 0; a < all->count; a++)
        *count *= all->over[a] == over ? all->extent[a] : 1;
    size_t *made = arena_new(memory, size_t, *count);
    for (size_t i = 0; i < *count; i++) {
        size_t left = i;
        for (size_t a = all->count; a > 0; a--) {
            if (all->over[a - 1] != over)
                continue;
            made[i] += left % all->extent[a - 1] * all->stride[a - 1];
            left /= all->extent[a - 1];
        }
    }
    return made;
}

static bool same_places(const reduction *a, const reduction *b)
{
    return a->length == b->length && a->groups == b->groups &&
           memcmp(a->inner, b->inner, a->length * sizeof *a->inner) == 0 &&
           memcmp(a->outer, b->outer, a->groups * sizeof *a->outer) == 0;
}

/* Left out where it is one of the reductions before it. */
static void add_reduction(layout *made, const axes *all, int rank, const char *words)
{
    reduction one = {.rank = rank, .last = made->reduction_count == 0};
    if (made->reduction_count == REDUCTIONS_MOST)
        return;
    snprintf(one.words, sizeof one.words, "%s", words);
    one.inner = offsets_of(&made->memory, all, true, &one.length);
    one.outer = offsets_of(&made->memory, all, false, &one.groups);
    size_t axes_over = 0;
    for (size_t a = 0; a < all->count; a++)
        axes_over += all->over[a] && all->extent[a] > 1;
    one.single = axes_over == 1;
    bool known = one.length < 2 && made->reduction_count > 0;
    for (size_t i = 0; !known && i < made->reduction_count; i++)
        known = same_places(&one, &made->reductions[i]);
    if (!known)
        made->reductions[made->reduction_count++] = one;
}

static axes axes_of(const fingerprint_input *input)
{
    axes all = {.count = input->dimensions};
    size_t stride = 1;
    for (size_t a = input->dimensions; a > 0; a--) {
        all.extent[a - 1] = input->shape[a - 1];
        all.stride[a - 1] = stride;
        stride *= input->shape[a - 1];
    }
    return all;
}

/* Every divisor of the channels of axis c as the number of groups, which are normalised over together with the
 * other axes from `first` on. */
static void add_groups(const fingerprint_input *input, layout *made, size_t c, size_t first)
{
    char words[128];
    size_t channels = input->shape[c];
    for (size_t groups = 2; groups < channels; groups++) {
        if (channels % groups)
            continue;
        axes all = axes_of(input);
        size_t last = all.count++;
        all.extent[c] = groups;
        all.extent[last] = channels / groups;
        all.stride[last] = all.stride[c];
        all.stride[c] *= channels / groups;
        for (size_t a = first; a < all.count; a++)
            all.over[a] = a != c;
        snprintf(words, sizeof words, "GroupNorm of %zu groups of the %zu channels of axis %zu%s",
                 groups, channels, c, first < c ? ", channels last" : "");
        add_reduction(made, &all, 6, words);
    }
}

/* Axes first to last, or all but those. */
static void add_run(const fingerprint_input *input, layout *made, size_t first, size_t last,
                    bool inside)
{
    size_t count = input->dimensions;
    bool is_single = first == last, to_end = last + 1 == count;
    char words[128], which[48], to[24] = "";
    axes all = axes_of(input);
    for (size_t a = 0; a < count; a++)
        all.over[a] = (a >= first && a <= last) == inside;
    if (!is_single)
        snprintf(to, sizeof to, " to %zu", last);
    snprintf(which, sizeof which, "%zu%s", first, to);
    if (!inside)
        snprintf(words, sizeof words, "%sover all axes but %s", is_single ? "batch norm: " : "",
                 which);
    else if (is_single)
        snprintf(words, sizeof words, "%s%s", to_end ? "" : "over axis ", to_end ? "" : which);
    else if (to_end && first == 0)
        snprintf(words, sizeof words, "one norm of the whole tensor");
    else if (to_end)
        snprintf(words, sizeof words, "over the last %zu axes", count - first);
    else
        snprintf(words, sizeof words, "over axes %s", which);
    add_reduction(made, &all, !inside ? 5 : is_single ? to_end ? 0 : 4 : to_end ? 3 : 5, words);
}

/* The last axis first, then every run of neighbouring axes, then all axes but one, then groups of channels. */
static void make_reductions(const fingerprint_input *input, layout *made)
{
    size_t count = input->dimensions, end = count - 1;
    for (size_t first = count; first > 0; first--)
        add_run(input, made, first - 1, end, true);
    for (int inside = 1; inside >= 0; inside--)
        for (size_t last = 0; last < count - (size_t)inside; last++)
            for (size_t first = 0; first <= last; first++)
                if (inside || last - first < end)
                    add_run(input, made, first, last, inside);
    add_groups(input, made, end, end);
    if (count < 3)
        return;
    add_groups(input, made, 1, 1);
    add_groups(input, made, end, 1);
}

/* ---- what is normalised ---- */

static source *add_source(layout *made, int rank, const char *words)
{
    source *one = &made->sources[made->source_count++];
    *one = (source){.values = arena_new(&made->memory, double, made->elements), .rank = rank};
    snprintf(one->words, sizeof one->words, "%s", words);
    return one;
}

static bool same_values(const double *a, const double *b, size_t count)
{
    for (size_t i = 0; i < count; i++)
        if (!(a[i] == b[i] || (isnan(a[i]) && isnan(b[i]))))
            return false;
    return true;
}

/* Another one with the values of one that is there is none. */
static void drop_known(layout *made)
{
    const source *last = &made->sources[made->source_count - 1];
    for (size_t i = 0; i + 1 < made->source_count; i++)
        if (same_values(last->values, made->sources[i].values, made->elements)) {
            made->source_count--;
            return;
        }
}

static void make_sources(const fingerprint_input *input, layout *made)
{
    static const ln_type types[] = {LN_F32, LN_BF16, LN_F16};
    const size_t elements = made->elements;
    char words[64];
    source *plain = add_source(made, 0, "");
    for (size_t i = 0; i < elements; i++)
        plain->values[i] = input->residual
                               ? stored_in(input->x_type, input->x[i] + input->residual[i])
                               : input->x[i];
    /* x in fewer bits than it was kept in, as under autocast. */
    for (size_t t = 0; t < 3 && !input->residual && input->x_digits == FINGERPRINT_EXACT; t++) {
        if (dtype_size(types[t]) >= dtype_size(input->x_type))
            continue;
        snprintf(words, sizeof words, "x rounded to %s first", dtype_name(types[t]));
        source *one = add_source(made, 20, words);
        one->shortened = true;
        for (size_t i = 0; i < elements; i++)
            one->values[i] = stored_in(types[t], plain->values[i]);
        drop_known(made);
    }
    if (!input->residual)
        return;
    /* In f32 and f64 what rounding the sum takes is no more than other roundings do. */
    if (dtype_size(input->x_type) == 2) {
        source *unrounded = add_source(made, 1, "");
        unrounded->sum = LN_RMS_SUM_UNROUNDED;
        for (size_t i = 0; i < elements; i++)
            unrounded->values[i] = (double)(float)(input->x[i] + input->residual[i]);
        drop_known(made);
    }
    if (made->source_count == 2) {
        source *squares = add_source(made, 2, "");
        squares->sum = LN_RMS_SUM_SQUARES;
        squares->squares = made->sources[1].values;
        memcpy(squares->values, plain->values, elements * sizeof *squares->values);
    }
    source *alone = add_source(made, RANK_ALONE, "without the residual");
    memcpy(alone->values, input->x, elements * sizeof *alone->values);
    drop_known(made);
}

/* ---- gamma and beta ---- */

enum { GAMMA = 1, BETA = 2, EITHER = 0 };

/* Which of gamma and beta a use needs; what xhat is multiplied with, and what is added. */
#define AFFINE_USES(X)                                                                             \
    X(USE_ALL, EITHER, gamma, beta)                                                                \
    X(USE_NONE, EITHER, 1, 0)                                                                      \
    X(USE_GAMMA, GAMMA | BETA, gamma, 0)                                                           \
    X(USE_BETA, GAMMA | BETA, 1, beta)                                                             \
    X(USE_OFFSET, GAMMA, 1 + gamma, beta)                                                          \
    X(USE_OFFSET_ROUNDED, GAMMA, 1 + gamma, beta)                                                  \
    X(USE_TWICE, EITHER, gamma *gamma, gamma *beta + beta)                                         \
    X(USE_BETA_FIRST, GAMMA | BETA, gamma, gamma * beta)                                           \
    X(USE_SWAPPED, GAMMA | BETA, beta, gamma)                                                      \
    X(USE_MINUS_BETA, BETA, gamma, -beta)                                                          \
    X(USE_FIRST_GAMMA, GAMMA, gamma, beta)                                                         \
    X(USE_FIRST_BETA, BETA, gamma, beta)

static bool may_use(const fingerprint_input *input, affine_use use)
{
#define NEEDS_OF(use, needs, gamma, beta) [use] = needs,
    static const unsigned all[USES] = {AFFINE_USES(NEEDS_OF)};
    const unsigned there = (input->gamma ? GAMMA : 0u) | (input->beta ? BETA : 0u);
    return use == USE_NONE || (there && (all[use] & ~there) == 0 &&
                               /* in f32 and f64 that is one rounding among others */
                               (use != USE_OFFSET_ROUNDED || dtype_size(input->param) == 2));
}

affine_pair affine_used(affine_use use, double gamma, double beta)
{
    switch (use) {
#define PAIR_OF(use, needs, factor, summand)                                                       \
    case use:                                                                                      \
        return (affine_pair){factor, summand};
        AFFINE_USES(PAIR_OF)
    default:
        return (affine_pair){gamma, beta};
    }
}

static void fill_affine(const fingerprint_input *input, affine *one)
{
    for (size_t i = 0; i < one->extent; i++) {
        affine_pair made = affine_used(one->use, input->gamma ? input->gamma[i] : 1,
                                       input->beta ? input->beta[i] : 0);
        if (one->use == USE_OFFSET_ROUNDED)
            made.gamma = stored_in(input->param, made.gamma);
        one->gamma[i] = made.gamma;
        one->beta[i] = made.beta;
    }
}

/* The same factors at the same places; where all are alike the places do not matter. */
static bool same_affine(const affine *a, const affine *b)
{
    return a->extent == b->extent && (a->stride == b->stride || a->trivial) &&
           same_values(a->gamma, b->gamma, a->extent) && same_values(a->beta, b->beta, a->extent);
}

static void add_affine(const fingerprint_input *input, layout *made, affine_use use, size_t stride,
                       int axis)
{
    affine *one = &made->affines[made->affine_count];
    const size_t extent = input->parameters ? input->parameters : 1;
    *one = (affine){use,
                    arena_new(&made->memory, double, extent),
                    arena_new(&made->memory, double, extent),
                    stride,
                    extent,
                    axis,
                    true};
    fill_affine(input, one);
    for (size_t i = 0; i < extent; i++)
        one->trivial = one->trivial && one->gamma[i] == 1 && one->beta[i] == 0;
    for (size_t i = 0; i < made->affine_count; i++)
        if (same_affine(one, &made->affines[i]) && (use != USE_OFFSET_ROUNDED || i > 0))
            return;
    made->affine_count++;
}

/* Whether parameters lie along the last axes, as many as there are. */
static bool lie_along_last(const fingerprint_input *input)
{
    size_t tail = 1, before = input->dimensions;
    while (before > 0 && tail < input->parameters)
        tail *= input->shape[--before];
    return input->parameters <= 1 || tail == input->parameters;
}

void check_parameters(const fingerprint_input *input)
{
    bool fit = lie_along_last(input);
    for (size_t axis = 0; axis + 1 < input->dimensions; axis++)
        fit |= input->shape[axis] == input->parameters;
    if (!fit)
        die(EXIT_CODE_USAGE,
            "gamma and beta of %zu elements: as many as an axis of x has, as its last axes have, "
            "or 1, were expected",
            input->parameters);
}

/* Along the last axes, then along one of the others. */
static void make_affines(const fingerprint_input *input, layout *made)
{
    const bool along_last = lie_along_last(input);
    for (int use = 0; use < USES_TRIED; use++)
        if (may_use(input, (affine_use)use) && (along_last || use == USE_NONE))
            add_affine(input, made, (affine_use)use, 1, -1);
    for (size_t axis = 0; input->parameters > 1 && axis + 1 < input->dimensions; axis++) {
        size_t stride = 1;
        if (input->shape[axis] != input->parameters)
            continue;
        for (size_t a = axis + 1; a < input->dimensions; a++)
            stride *= input->shape[a];
        for (int use = USE_ALL; use < USES_TRIED; use++)
            if (may_use(input, (affine_use)use) && use != USE_NONE)
                add_affine(input, made, (affine_use)use, stride, (int)axis);
    }
}

void layout_make(const fingerprint_input *input, layout *made)
{
    made->elements = 1;
    for (size_t a = 0; a < input->dimensions; a++)
        made->elements *= input->shape[a];
    make_reductions(input, made);
    make_sources(input, made);
    make_affines(input, made);
}
