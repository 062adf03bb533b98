#include "report_theory.h"
#include <math.h>
#include <string.h>

static const double rounding_units[] = {
    [LN_F32] = 0x1p-24, [LN_F64] = 0x1p-53, [LN_BF16] = 0x1p-8, [LN_F16] = 0x1p-11};

/* Accumulators of a kernel: lanes times unroll. Lanes hold what is summed up from: f32, or f64 of
 * f64 rows. */
static double block_of(const theory_kernel *kernel)
{
    static const struct {
        const char *isa;
        double bytes;
    } isas[] = {{"scalar", 0}, {"neon", 16}, {"avx2", 32}, {"avx512", 64}, {"avx512bf16", 128}};
    for (size_t i = 0; i < sizeof isas / sizeof *isas; i++) {
        if (strcmp(kernel->isa, isas[i].isa) != 0)
            continue;
        double lanes = isas[i].bytes / (kernel->storage == LN_F64 ? 8 : 4);
        return fmax(lanes, 1) * fmax(kernel->unroll, 1);
    }
    return 0;
}

/* The roundings that no term exceeds, for sums in turn, and for pairwise ones over chunks of so
 * many blocks (statistics/ and cascade.h). */
static double turn_depth(double hidden, double block)
{
    return ceil(hidden / block) + log2(block);
}

static double chunk_depth(double hidden, double block, double chunk)
{
    double steps = ceil(hidden / block), chunks = ceil(steps / chunk);
    return fmin(steps, chunk) + log2(block) + (chunks > 1 ? floor(log2(chunks)) + 1 : 0);
}

/* For sums in turn over chunks, whose sums are added up in turn (statistics/one_sweep.h). */
static double sweep_depth(double hidden, double block)
{
    enum { CHUNK_BLOCKS = 16 }; /* statistics/shifted.h */
    double steps = ceil(hidden / block), chunks = ceil(steps / CHUNK_BLOCKS);
    return fmin(steps, CHUNK_BLOCKS) + chunks - 1 + log2(block);
}

static const struct {
    const char *statistics;
    theory_kind kind;
    double chunk; /* blocks; 0: in turn */
} ways[] = {
    {"naive", THEORY_TEXTBOOK, 0},         {"clamped", THEORY_TEXTBOOK, 0},
    {"shifted", THEORY_SHIFTED, 0},        {"two_pass", THEORY_TWO_PASS, 0},
    {"pairwise", THEORY_TWO_PASS, 2},      {"compensated", THEORY_TWO_PASS, 0},
    {"corrected", THEORY_CORRECTED, 2},    {"scaled", THEORY_CORRECTED, 2},
    {"reproducible", THEORY_CORRECTED, 0}, {"welford", THEORY_UPDATED, 0},
    {"chunked", THEORY_UPDATED, 32},       {"lanewise", THEORY_LANEWISE, 0},
    {"double_float", THEORY_DOUBLED, 0},   {"checked", THEORY_SHIFTED, 0},
    {"verified", THEORY_VERIFIED, 0},      {"mixed", THEORY_MIXED, 0},
};

/* A lane's sums are taken over to accumulators after so many blocks, and are added up there: what
 * rounds in items is a chunk's turn and the vectors that an unrolled block becomes one by. */
static double lane_depth(double hidden, double block, double unroll)
{
    enum { CHUNK_BLOCKS = 8 }; /* statistics/lanewise.h */
    return fmin(ceil(hidden / block), CHUNK_BLOCKS) + log2(fmax(unroll, 1));
}

/* The same of sums that stay in items, but for the last two levels over lanes. */
static double mixed_depth(double hidden, double block, double unroll)
{
    enum { CHUNK_BLOCKS = 8, ITEM_LEVELS = 2 }; /* statistics/mixed.h */
    double chunks = ceil(ceil(hidden / block) / CHUNK_BLOCKS);
    return lane_depth(hidden, block, unroll) + chunks - 1 + ITEM_LEVELS;
}

static double depth_of(const theory_kernel *kernel, size_t hidden, double block, double chunk)
{
    if (strcmp(kernel->statistics, "compensated") == 0)
        return 3; /* the sum, the quotient, the product */
    if (strcmp(kernel->statistics, "lanewise") == 0)
        return lane_depth((double)hidden, block, kernel->unroll);
    if (strcmp(kernel->statistics, "mixed") == 0)
        return mixed_depth((double)hidden, block, kernel->unroll);
    if (strcmp(kernel->statistics, "checked") == 0 && kernel->storage == LN_BF16)
        block /= 2; /* a lane takes products by pairs (statistics/checked.h) */
    if (strcmp(kernel->statistics, "shifted") == 0)
        return sweep_depth((double)hidden, block);
    return chunk > 0 ? chunk_depth((double)hidden, block, chunk)
                     : turn_depth((double)hidden, block);
}

/* Whether the mean that is subtracted is one number. */
static bool is_one_part(const char *apply)
{
    static const char *const forms[] = {"direct", "expanded", "folded", "estimated"};
    for (size_t i = 0; i < sizeof forms / sizeof *forms; i++)
        if (strcmp(apply, forms[i]) == 0)
            return true;
    return false;
}

bool theory_of(const theory_kernel *kernel, size_t hidden, theory *theory)
{
    double block = block_of(kernel);
    if (strcmp(kernel->statistics, "reproducible") == 0)
        block = 64; /* its tile, on every ISA */
    for (size_t i = 0; i < sizeof ways / sizeof *ways && block > 0; i++) {
        if (strcmp(kernel->statistics, ways[i].statistics) != 0)
            continue;
        bool wide = strcmp(kernel->apply, "wide") == 0 || kernel->storage == LN_F64;
        double items = rounding_units[kernel->storage == LN_F64 ? LN_F64 : LN_F32];
        theory->kind = ways[i].kind;
        theory->two_parts = !is_one_part(kernel->apply);
        theory->expanded = strcmp(kernel->apply, "expanded") == 0;
        theory->depth = depth_of(kernel, hidden, block, ways[i].chunk);
        theory->unit = theory->kind == THEORY_LANEWISE || theory->kind == THEORY_MIXED
                           ? items
                           : rounding_units[kernel->accumulator];
        theory->rstd = rounding_units[kernel->accumulator];
        theory->apply = rounding_units[wide ? LN_F64 : LN_F32];
        theory->storage = rounding_units[kernel->storage];
        return true;
    }
    return false;
}

/* A pivot that is further than two standard deviations from the mean is not kept, so that of the
 * shifted row kappa^2 = 1 + (mean - pivot)^2 / var is at most this. */
static const double shifted_kappa_square = 5;

/* Of rows about a pivot for each lane: the squares about the pivots are at most so many times those
 * about the mean, or the row is done again (RAW_MOST of statistics/lanewise.h). Their own roundings
 * count so often, and an error of a lane's sum twice (mean - pivot of that lane): 2 P R with P <= R
 * + std. */
static const double lanewise_square = 1.375;

/* mean^2 / var is at most this, or the row is done again (CANCELLED_MOST of statistics/verified.h). */
static const double verified_kappa_square = 0x1p20;

/* mean^2 / var is at most this less 1, or the row is swept again about its mean (mixed_most() of
 * statistics/mixed.h). */
static const double mixed_kappa_square = 1.5;

/* Adding pairs costs 4 u^2, adding squares of pairs 8 (statistics/double_float.h); then m2 is rounded
 * to one number. */
static double doubled_mean(const theory *theory, double kappa)
{
    return 4 * theory->depth * theory->unit * theory->unit * kappa;
}

static double lanewise_variance(double off)
{
    double r = sqrt(lanewise_square);
    return off * (lanewise_square + 2 * r * (r + 1));
}

double theory_variance(const theory *theory, double kappa)
{
    double off = theory->depth * theory->unit, carried = off * kappa;
    switch (theory->kind) {
    case THEORY_TEXTBOOK:
        return off * kappa * kappa;
    case THEORY_VERIFIED:
        return off * fmin(kappa * kappa, verified_kappa_square);
    case THEORY_SHIFTED:
        return off * shifted_kappa_square;
    case THEORY_MIXED:
        return off * mixed_kappa_square;
    case THEORY_UPDATED:
        return carried;
    case THEORY_LANEWISE:
        return lanewise_variance(off);
    case THEORY_DOUBLED:
        carried = doubled_mean(theory, kappa);
        return theory->unit * (1 + 8 * off) + carried * carried;
    case THEORY_CORRECTED: /* the squares' own roundings, and those of the sum in what is subtracted */
        return off * (1 + carried) * (1 + carried);
    case THEORY_TWO_PASS:
        break;
    }
    return off + carried * carried;
}

/* Half a unit of the sum with eps, one each of root and quotient: 1 / rstd^2 is off by twice that. */
double theory_variance_seen(const theory *theory, double kappa)
{
    return theory_variance(theory, kappa) + 5 * theory->rstd;
}

double theory_mean(const theory *theory, double kappa)
{
    double off = theory->depth * theory->unit, carried = off * kappa;
    if (theory->kind == THEORY_SHIFTED)
        carried = off * sqrt(shifted_kappa_square);
    else if (theory->kind == THEORY_MIXED)
        carried = off * sqrt(mixed_kappa_square);
    else if (theory->kind == THEORY_LANEWISE)
        carried = off * sqrt(lanewise_square);
    else if (theory->kind == THEORY_VERIFIED)
        carried = off * fmin(kappa, sqrt(verified_kappa_square));
    else if (theory->kind == THEORY_DOUBLED)
        carried = doubled_mean(theory, kappa);
    else if (theory->kind == THEORY_CORRECTED && theory->two_parts)
        carried = off * (1 + carried);
    return carried;
}

/* Roundings of one element and of rstd that do not grow: eps, root and quotient (2.5), x - mean,
 * times rstd, times gamma, plus beta. */
static const double apply_roundings = 6.5;

double theory_row_ulp(const theory *theory, double kappa)
{
    double roundings = apply_roundings + (theory->expanded ? kappa : 0);
    return (theory_mean(theory, kappa) + theory_variance(theory, kappa) / 2 +
            roundings * theory->apply) /
               theory->storage +
           0.5;
}
