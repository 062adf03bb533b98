/* A fingerprint as text and as JSON. */
#include "domain/convention.h"
#include "base/allocate.h"
#include "commands/fingerprint/command.h"
#include "base/number.h"
#include "base/text.h"
#include "answer/run_view.h"
#include <math.h>
#include <string.h>

enum { SHOWN = 12, VALUES_SHOWN = 8 };

static const char *eps_text(const fingerprint_candidate *candidate, char buffer[32])
{
    return number_format(candidate->convention.eps, buffer);
}

/* ---- JSON ---- */

static json_t *label_json(const fingerprint_candidate *candidate)
{
    char label[CONVENTION_MAX_LENGTH];
    return json_string(convention_label(&candidate->convention, label));
}

/* All of them, or the first `most`. */
static relation *ranking_relation(const fingerprint *found, size_t most)
{
    static const relation_column columns[] = {
        COLUMN("convention", "convention"),
        COLUMN("ddof", "ddof"),
        COLUMN("eps", "eps"),
        COLUMN("place", "eps_place"),
        COLUMN("affine", "affine"),
        COLUMN("row ULP", "row_ulp_max"),
        COLUMN("rel L2", "rel_l2"),
        FOR_PEOPLE("alike"),
        COLUMN("possible", "possible"),
        FOR_PROGRAMS("mismatches"),
        FOR_PROGRAMS("eps_estimated"),
    };
    relation *rows = relation_create(COLUMNS(columns));
    for (size_t i = 0; i < found->count && i < most; i++) {
        const fingerprint_candidate *candidate = &found->candidates[i];
        const ln_convention *convention = &candidate->convention;
        char label[CONVENTION_MAX_LENGTH], number[32];
        relation_row(rows, as_text(convention_label(convention, label)),
                     as_count((unsigned)convention->ddof),
                     as_json(json_real(convention->eps), eps_text(candidate, number)),
                     as_text(convention_place_name(convention->eps_place)),
                     as_text(convention_affine_name(convention->affine)),
                     as_figure(candidate->row_ulp_max), as_figure(candidate->rel_l2),
                     as_count(candidate->group + 1), as_flag(candidate->possible),
                     as_count(candidate->mismatches), as_flag(candidate->estimated));
    }
    return rows;
}

/* Groups of two and more, by label, in the order of the ranking. */
static json_t *groups_json(const fingerprint *found)
{
    json_t *groups = json_array();
    for (size_t i = 0; i < found->count; i++) {
        bool first = true;
        for (size_t j = 0; j < i; j++)
            first = first && found->candidates[j].group != found->candidates[i].group;
        if (!first)
            continue;
        json_t *group = json_array();
        for (size_t j = i; j < found->count; j++)
            if (found->candidates[j].group == found->candidates[i].group)
                json_array_append_new(group, label_json(&found->candidates[j]));
        if (json_array_size(group) > 1)
            json_array_append_new(groups, group);
        else
            json_decref(group);
    }
    return groups;
}

static json_t *probes_json(const fingerprint *found)
{
    json_t *probes = json_array();
    for (size_t p = 0; p < found->probe_count; p++) {
        const fingerprint_probe *probe = &found->probes[p];
        json_t *row = json_array();
        for (size_t i = 0; i < found->hidden; i++)
            json_array_append_new(
                row, json_real((double)fingerprint_probe_value(probe, found->hidden, i)));
        json_array_append_new(probes, json_pack("{s:o, s:I, s:o}", "row", row, "pairs",
                                                (json_int_t)probe->pairs, "least_margin",
                                                json_figure(probe->least_margin)));
    }
    return probes;
}

bool fingerprint_print_json(const fingerprint *found, const output_file *out, error *err)
{
    return output_json(out,
                       json_pack("{s:s, s:b, s:o, s:o, s:o, s:I}", "schema",
                                 "lnbench-fingerprint-1", "fits", fingerprint_fits(found),
                                 "ranking", relation_json(ranking_relation(found, SIZE_MAX)),
                                 "indistinguishable", groups_json(found), "probes",
                                 probes_json(found), "pairs_left", (json_int_t)found->pairs_left),
                       err);
}

/* ---- text ---- */

static void print_head(const fingerprint_input *input, const fingerprint *found, FILE *file)
{
    fprintf(file, "%zu row%s of %zu", input->rows, input->rows == 1 ? "" : "s", input->hidden);
    if (input->digits != FINGERPRINT_EXACT)
        fprintf(file, "; y printed to %d decimals", input->digits);
    else
        fprintf(file, "; y in %s", input->y_is_f64 ? "f64" : "f32");
    if (input->x_digits != FINGERPRINT_EXACT)
        fprintf(file, "; x printed to %d decimals", input->x_digits);
    else if (input->digits != FINGERPRINT_EXACT)
        fprintf(file, "; x taken as exact (--x-digits D if it is not)");
    fprintf(file, "; %zu candidates\n", found->count);
}

static void print_distance(const fingerprint_candidate *candidate, FILE *file)
{
    char row_ulp[16], rel_l2[16];
    fprintf(file, "%s row ULP, rel L2 %s", number_short(candidate->row_ulp_max, row_ulp),
            number_short(candidate->rel_l2, rel_l2));
    if (candidate->mismatches)
        fprintf(file, ", and %llu elements of another class",
                (unsigned long long)candidate->mismatches);
}

/* "torch (ddof=0,eps=1e-05@var,affine=vector)" */
static void print_name(const fingerprint_candidate *candidate, FILE *file)
{
    char label[CONVENTION_MAX_LENGTH], list[CONVENTION_MAX_LENGTH];
    convention_label(&candidate->convention, label);
    convention_format(&candidate->convention, list);
    if (strcmp(label, list) == 0)
        fprintf(file, "%s: ", label);
    else
        fprintf(file, "%s (%s): ", label, list);
}

static void print_verdict(const fingerprint_input *input, const fingerprint *found, FILE *file)
{
    const fingerprint_candidate *best = &found->candidates[0];
    bool fits = fingerprint_fits(found);
    if (!fits)
        fprintf(file, "none of them explains this output%s%s\n",
                best->mismatches == 0 && !found->printed ? ": rounding alone does not reach so far"
                                                         : "",
                input->inputs[ROLE_GAMMA] || input->inputs[ROLE_BETA]
                    ? ""
                    : "; if the black box has gamma or beta, give them");
    fprintf(file, "%s",
            !fits                     ? "nearest   "
            : found->first_group == 1 ? "it is     "
                                      : "it may be ");
    print_name(best, file);
    print_distance(best, file);
    fprintf(file, "%s\n", found->printed && best->possible ? ", within the printed digits" : "");
    if (best->estimated)
        fprintf(file, "          eps was fitted: from %.6g to %.6g it does as well\n",
                best->eps_low, best->eps_high);
    if (found->first_group < found->count) {
        const fingerprint_candidate *next = &found->candidates[found->first_group];
        fprintf(file, "next      ");
        print_name(next, file);
        print_distance(next, file);
        fprintf(file, "\n");
    }
}

/* What all of the first group share is settled by this data; the rest is open. */
static void print_settled(const fingerprint *found, FILE *file)
{
    const ln_convention *best = &found->candidates[0].convention;
    bool ddof = true, place = true, eps = true, affine = true;
    char number[32];
    for (size_t i = 1; i < found->first_group; i++) {
        const ln_convention *other = &found->candidates[i].convention;
        ddof = ddof && other->ddof == best->ddof;
        place = place && other->eps_place == best->eps_place;
        eps = eps && other->eps == best->eps;
        affine = affine && other->affine == best->affine;
    }
    eps = eps && fingerprint_eps_is_settled(found);
    fprintf(file, "settled  ");
    if (ddof)
        fprintf(file, " divisor %s;", best->ddof ? "N-1" : "N");
    if (place)
        fprintf(file, " place of eps: %s;", convention_place_name(best->eps_place));
    if (eps)
        fprintf(file, " eps %s;", eps_text(&found->candidates[0], number));
    if (affine)
        fprintf(file, " affine %s;", convention_affine_name(best->affine));
    if (ddof && place && eps && affine)
        fprintf(file, " nothing is open\n");
    else
        fprintf(file, " open:%s%s%s%s\n", ddof ? "" : " divisor", place ? "" : " place of eps",
                eps ? "" : " size of eps", affine ? "" : " affine");
    if (!eps && best->eps > 0)
        fprintf(file, "eps       any from %.2g to %.2g fits as well\n", found->eps_low,
                found->eps_high);
}

static bool same_family(const ln_convention *a, const ln_convention *b)
{
    return a->ddof == b->ddof && a->eps_place == b->eps_place && a->affine == b->affine;
}

/* "ddof=1,eps=1e-12..1e-05@var,affine=none": the candidates that differ in the size of eps only. */
static void print_family(const fingerprint *found, size_t first, FILE *file)
{
    const ln_convention *own = &found->candidates[first].convention;
    double least = own->eps, most = own->eps;
    char low[32], high[32];
    for (size_t i = first + 1; i < found->first_group; i++) {
        const ln_convention *other = &found->candidates[i].convention;
        if (same_family(own, other)) {
            least = fmin(least, other->eps);
            most = fmax(most, other->eps);
        }
    }
    fprintf(file, "          ddof=%d,eps=%s", own->ddof, number_format(least, low));
    if (most > least)
        fprintf(file, "..%s", number_format(most, high));
    if (own->eps_place != LN_EPS_NONE)
        fprintf(file, "@%s", convention_place_name(own->eps_place));
    fprintf(file, ",affine=%s\n", convention_affine_name(own->affine));
}

static void print_alike(const fingerprint *found, FILE *file)
{
    const fingerprint_candidate *all = found->candidates;
    char label[CONVENTION_MAX_LENGTH], list[CONVENTION_MAX_LENGTH];
    bool any = false;
    if (found->first_group == 1)
        return;
    fprintf(file, "alike     %zu candidates cannot be told apart on this data", found->first_group);
    for (size_t i = 0; i < found->first_group; i++)
        if (strcmp(convention_label(&all[i].convention, label),
                   convention_format(&all[i].convention, list)) != 0) {
            fprintf(file, "%s %s", any ? "," : ":", label);
            any = true;
        }
    fprintf(file, "\n");
    for (size_t i = 0; i < found->first_group; i++) {
        bool first = true;
        for (size_t j = 0; j < i; j++)
            first = first && !same_family(&all[j].convention, &all[i].convention);
        if (first)
            print_family(found, i, file);
    }
}

static void print_probe(const fingerprint *found, const fingerprint_probe *probe, FILE *file)
{
    fprintf(file, "probe     ");
    for (size_t i = 0; i < found->hidden && i < VALUES_SHOWN; i++)
        fprintf(file, "%s%.9g", i ? ", " : "",
                (double)fingerprint_probe_value(probe, found->hidden, i));
    if (found->hidden > VALUES_SHOWN)
        fprintf(file, ", ... in turn%s", found->hidden % 2 ? ", 0 at the end" : "");
    fprintf(file, "\n          this row tells %zu %sof their %zu pairs apart\n", probe->pairs,
            probe == found->probes ? "" : "more ", found->pairs);
}

static void print_probes(const fingerprint *found, FILE *file)
{
    for (size_t i = 0; i < found->probe_count; i++)
        print_probe(found, &found->probes[i], file);
    if (found->pairs_left > 0)
        fprintf(file, "          %zu of their %zu pairs are alike on every such row\n",
                found->pairs_left, found->pairs);
}

static bool print_ranking(const fingerprint *found, bool all, const output_file *out, error *err)
{
    enum { POSSIBLE = 8 };
    relation *rows = ranking_relation(found, all ? SIZE_MAX : SHOWN);
    if (!found->printed)
        relation_hide(rows, POSSIBLE);
    bool fine = relation_print(rows, out, err);
    if (!all && found->count > SHOWN)
        output_line(out, "... %zu more: --all", found->count - SHOWN);
    return fine;
}

bool fingerprint_print_text(const fingerprint_input *input, const fingerprint *found, bool all,
                            const output_file *out, error *err)
{
    FILE *file = out->file;
    bool markdown = out->format == OUTPUT_MARKDOWN;
    if (!output_is_data(out)) {
        fprintf(file, "%s", markdown ? "```\n" : "");
        print_head(input, found, file);
        print_verdict(input, found, file);
        print_settled(found, file);
        print_alike(found, file);
        print_probes(found, file);
        fprintf(file, "%s\n", markdown ? "```\n" : "");
    }
    return print_ranking(found, all || output_is_data(out), out, err) &&
           (!ferror(file) || fail(err, EXIT_CODE_ENVIRONMENT, "standard output: cannot write"));
}

bool fingerprint_write_probes(const fingerprint *found, const char *path, error *err)
{
    if (found->probe_count == 0)
        return fail(err, EXIT_CODE_INCONCLUSIVE, "%s (--probe): no row to write: %s", path,
                    found->first_group == 1 ? "nothing is left to tell apart"
                                            : "no row tells the rest apart");
    size_t shape[2] = {found->probe_count, found->hidden};
    float *rows = allocate(shape[0] * shape[1] * sizeof *rows);
    for (size_t p = 0; p < shape[0]; p++)
        for (size_t i = 0; i < shape[1]; i++)
            rows[p * shape[1] + i] = fingerprint_probe_value(&found->probes[p], found->hidden, i);
    bool fine = npy_write(path, LN_F32, 2, shape, rows, err);
    free(rows);
    return fine;
}
