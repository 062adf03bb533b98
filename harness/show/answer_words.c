/* The answer in sentences, from the figures of its rows. */
#include "show/result_table.h"
#include "base/clean.h"
#include "base/text.h"
#include <math.h>
#include <string.h>

/* "2.4 times as fast as oneDNN 2.6.3 and 8 times PyTorch 1.13.0" */
static bool add_peers(const run_answer *answer, const answer_row *row, text_buffer *out)
{
    size_t peers = 0;
    for (size_t i = 0; i < answer->count; i++) {
        const answer_row *peer = &answer->rows[i];
        char number[16];
        if (peer->standing->role != ROLE_PEER || !peer->shown || isnan(peer->speedup) ||
            isnan(row->speedup))
            continue;
        text_format(out, peers ? " and %s times %s" : "%s times as fast as %s",
                    answer_times(row->speedup / peer->speedup, number), peer->label);
        peers++;
    }
    return peers > 0;
}

static void add_speedups(const run_answer *answer, const answer_row *row, text_buffer *out)
{
    if (add_peers(answer, row, out))
        return;
    if (answer->fastest == row)
        text_add(out, "the fastest");
    else
        text_format(out, "%s fastest within %g row ULP",
                    answer->untold_count[OF_TAKEN] > 1 ? "among the" : "the", STANDING_ROW_ULP);
}

/* Who needs more than what was seen takes this one. */
static void add_proven(const run_answer *answer, text_buffer *out)
{
    char name[64];
    clean_format(out, FORM_LINE, "Proven within %g row ULP: %s, ", STANDING_ROW_ULP,
                 answer->proven->kernel);
    if (!add_peers(answer, answer->proven, out))
        text_format(out, "%.1f GB/s", answer->proven->at_key->speed.gbps);
    text_format(out, " at %s.\n", answer_shape(answer, name));
}

const char *answer_provisional(const char *plan)
{
    return strcmp(plan, "quick") == 0
               ? " (provisional: the quick plan has few cases; the default plan decides)"
           : strcmp(plan, "choose") == 0
               ? " (provisional: choose judges few cases; the default plan decides)"
               : "";
}

/* What the recommendation rests on. */
static void add_basis(const run_answer *answer, const answer_row *row, text_buffer *out)
{
    char number[ERROR_WORDS];
    const error_sum *hunted = &row->standing->errors[SCOPE_HUNTED];
    text_format(out,
                row->all->judged == 1 ? "at most %s row ULP on the one case judged"
                                      : "at most %s row ULP on all %zu cases",
                view_error_words(answer->view, row->all, answer->dtype, number), row->all->judged);
    if (hunted->error > row->all->error)
        text_format(out, ", %s on adversarial rows",
                    view_error_words(answer->view, hunted, answer->dtype, number));
    if (answer->column_count > 0)
        text_add(out, answer_provisional(answer->plan));
    text_add(out, ".\n");
}

/* "a, b and c" */
static void add_untold(const run_answer *answer, int of, text_buffer *out)
{
    for (size_t i = 0; i < answer->untold_count[of]; i++)
        clean_format(out, FORM_LINE, "%s%s",
                     i == 0                              ? ""
                     : i + 1 == answer->untold_count[of] ? " and "
                                                         : ", ",
                     answer->untold[of][i]->kernel);
}

static void add_none(const char *half, text_buffer *out)
{
    if (strcmp(half, STANDING_NOT_TIMED) == 0)
        text_add(out, "Speed was not timed, so none is recommended.\n");
    else
        text_format(out, "No kernel is to be taken: %s.\n", half);
}

static void add_take(const run_answer *answer, text_buffer *out)
{
    const answer_row *take = answer->take;
    char name[64], ratio[16];
    const answer_row *accurate = take ? take : answer_accurate(answer);
    if (!accurate && answer_half(answer) && answer->cases > 0) {
        add_none(answer_half(answer), out);
        return;
    }
    if (!accurate && answer->cases > 0) {
        text_format(out, "No kernel stays within %g row ULP on all cases judged.\n",
                    STANDING_ROW_ULP);
        return;
    }
    if (!accurate) {
        if (answer->fastest) {
            clean_format(out, FORM_LINE, "%s is ", answer->fastest->kernel);
            add_speedups(answer, answer->fastest, out);
            text_format(out, " at %s; errors", answer_shape(answer, name));
        }
        text_format(out, "%s were not judged.\n", answer->fastest ? "" : "Errors");
        return;
    }
    if (answer->proven)
        add_proven(answer, out);
    clean_format(out, FORM_LINE, "%s%s%s: ", take ? "Take " : "", accurate->kernel,
                 answer->proven ? ", which has no such proof" : "");
    if (answer->proven && answer->untold_count[OF_TAKEN] == 1)
        text_format(out, "%s times as fast as that at %s, ",
                    answer_times(answer->proven->relative / take->relative, ratio),
                    answer_shape(answer, name));
    else if (!isnan(accurate->relative)) {
        add_speedups(answer, accurate, out);
        text_format(out, " at %s, ", answer_shape(answer, name));
    }
    add_basis(answer, accurate, out);
    if (!take && answer_half(answer))
        add_none(answer_half(answer), out);
    else if (!take)
        text_format(out, "No kernel is to be taken: %s is accurate enough, but %s.\n",
                    accurate->label, answer_doubt(answer, accurate));
    if (answer->untold_count[OF_TAKEN] > 1) {
        text_add(out, "Too noisy to say which is fastest of ");
        add_untold(answer, OF_TAKEN, out);
        text_add(out, ": taken is the one with the smallest worst error.\n");
    }
}

/* What a program has that names no kernel: the fastest of the library's calls that can be taken. */
static void add_library(const run_answer *answer, text_buffer *out)
{
    char number[16];
    const answer_row *take = answer->take, *call = NULL;
    for (size_t i = 0; i < answer->count && !call; i++) {
        const answer_row *row = &answer->rows[i];
        if (row->standing->role == ROLE_LIBRARY && row->at_key && row->standing->accurate &&
            !row->standing->doubt[0])
            call = row;
    }
    if (take && call && take != call && call != answer->proven &&
        take->standing->role != ROLE_PLUGIN)
        clean_format(
            out, FORM_LINE,
            "%s is the fastest call of the library that can be taken; it takes %s times as long as "
            "the kernel to take.\n",
            call->kernel, answer_times(call->relative / take->relative, number));
}

static void add_fastest(const run_answer *answer, text_buffer *out)
{
    const answer_row *fastest = answer->fastest, *take = answer->take;
    char number[16], objection[OBJECTION_WORDS];
    if (answer->untold_count[OF_ALL] > 1) {
        text_add(out, "Too noisy to say which kernel is fastest at any error: ");
        add_untold(answer, OF_ALL, out);
        text_add(out, ".\n");
    }
    if (!fastest || !take || fastest == take)
        return;
    if (take->tied)
        clean_format(out, FORM_LINE, "%s shows no significant difference to it in speed, but ",
                     fastest->kernel);
    else
        clean_format(out, FORM_LINE,
                     strcmp(answer_times(take->relative / fastest->relative, number), "1.0") == 0
                         ? "%s is hardly faster than that, but "
                         : "%s is %s times as fast as that, but ",
                     fastest->kernel, number);
    const stored_case *worst = view_find(answer->view, fastest->standing->errors[SCOPE_ANY].at);
    if (fastest->standing->accurate)
        text_format(out, "is not to be taken: %s.\n", answer_doubt(answer, fastest));
    else
        text_format(
            out, "%s.\n",
            standing_objection(fastest->standing, worst ? &worst->verdict : NULL, objection));
}

static int decade(double kappa)
{
    return isnan(kappa) ? 99 : (int)ceil(log10(kappa) - 0.05);
}

/* Where the mean takes the digits: of the kernels in the short table, by powers of ten. A row of
 * kappa 1e4 has |mean| = 1e4 std. */
static void add_lost(const run_answer *answer, text_buffer *out)
{
    bool begun = false;
    for (int power = 1; power < 40; power++) {
        size_t names = 0, of = 0;
        for (size_t i = 0; i < answer->count; i++)
            of += answer->rows[i].shown && decade(answer->rows[i].standing->lost_from) == power;
        for (size_t i = 0; i < answer->count; i++) {
            const answer_row *row = &answer->rows[i];
            if (!row->shown || decade(row->standing->lost_from) != power)
                continue;
            if (names == 0)
                text_format(out,
                            begun ? "; from 1e%d std on, nor " : "Where |mean| exceeds 1e%d std, ",
                            power);
            if (names == 0 && begun)
                text_add(out, of == 1 ? "has " : "have ");
            text_format(out, "%s%s",
                        names == 0        ? ""
                        : names + 1 == of ? " and "
                                          : ", ",
                        row->label);
            names++;
        }
        if (names > 0 && !begun)
            text_format(out, " %s no correct digit", of == 1 ? "has" : "have");
        begun |= names > 0;
    }
    if (begun)
        text_add(out, ".\n");
}

void answer_sentences(const run_answer *answer, text_buffer *out)
{
    if (answer->untold_count[OF_ALL] == 0 && answer->cases == 0)
        text_add(out, "Nothing was measured.\n");
    else
        add_take(answer, out);
    add_fastest(answer, out);
    add_library(answer, out);
    add_lost(answer, out);
}
