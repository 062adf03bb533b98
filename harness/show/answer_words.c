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

/* "library_fast_f32 (retry_folded_f32_avx512)" */
static void add_name(const answer_row *row, text_buffer *out)
{
    clean_format(out, FORM_LINE, row->ranked->dispatched[0] ? "%s (%s)" : "%s", row->kernel,
                 row->ranked->dispatched);
}

static void add_speedups(const run_answer *answer, const answer_row *row, text_buffer *out)
{
    if (add_peers(answer, row, out))
        return;
    if (answer->fastest == row)
        text_add(out, "the fastest");
    else
        text_format(out, "%s fastest%s within %g row ULP",
                    answer->untold_count[OF_CALLABLE] > 1 ? "among the" : "the",
                    answer->tuned ? " call" : "", STANDING_ROW_ULP);
}

/* Who needs a proof takes this one. */
static void add_proven(const run_answer *answer, text_buffer *out)
{
    char name[64], number[16];
    const answer_row *proven = answer->proven;
    text_format(out, "Proven within %g row ULP: ", STANDING_ROW_ULP);
    add_name(proven, out);
    text_format(out, ", %s times as long at %s.\n",
                answer_times(proven->relative / answer->recommended->relative, number),
                answer_shape(answer, name));
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
    if (hunted->error > 1.05 * row->all->error)
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

/* Why none is recommended. */
static void add_none(const run_answer *answer, text_buffer *out)
{
    const answer_row *accurate = answer_accurate(answer);
    const char *half = answer_half(answer);
    bool calls = false;
    for (size_t i = 0; i < answer->count; i++)
        calls |= answer->rows[i].standing->role == ROLE_LIBRARY ||
                 answer->rows[i].standing->role == ROLE_PLUGIN;
    if (half && strcmp(half, STANDING_NOT_TIMED) == 0)
        text_add(out, "Speed was not timed, so none is recommended.\n");
    else if (half)
        text_format(out, "No kernel is recommended: %s.\n", half);
    else if (accurate)
        clean_format(out, FORM_LINE, "No kernel is recommended: %s is accurate enough, but %s.\n",
                     accurate->label, answer_doubt(answer, accurate));
    else
        text_format(out, "No %s stays within %g row ULP on all cases judged.\n",
                    calls ? "call of the library and no plugin" : "kernel", STANDING_ROW_ULP);
}

/* What is as fast as the recommended kernel, as far as the measurement can tell. */
static void add_near(const run_answer *answer, text_buffer *out)
{
    size_t count = 0, of = 0;
    for (size_t i = 0; i < answer->ranking.count; i++)
        of += answer->ranking.kernels[i].near && !answer->ranking.kernels[i].recommended;
    for (size_t i = 0; i < answer->ranking.count; i++) {
        const ranked_kernel *own = &answer->ranking.kernels[i];
        if (own->near && !own->recommended)
            clean_format(out, FORM_LINE, "%s%s",
                         count++ == 0  ? ""
                         : count == of ? " and "
                                       : ", ",
                         own->kernel);
    }
    if (count > 0)
        text_format(out,
                    " show%s no significant difference in speed; the smallest error decides.\n",
                    count == 1 ? "s" : "");
}

static void add_recommended(const run_answer *answer, text_buffer *out)
{
    const answer_row *own = answer->recommended;
    const answer_row *shown = own ? own : answer_accurate(answer);
    char name[64], number[16];
    if (own)
        text_add(out, "Recommended: ");
    if (shown) {
        add_name(shown, out);
        text_add(out, ", ");
        if (!isnan(shown->relative)) {
            add_speedups(answer, shown, out);
            text_format(out, " at %s, ", answer_shape(answer, name));
        }
        add_basis(answer, shown, out);
    }
    if (!own)
        add_none(answer, out);
    if (answer->proven)
        add_proven(answer, out);
    if (answer->untold_count[OF_CALLABLE] > 1) {
        text_add(out, "Too noisy to say which is fastest of ");
        add_untold(answer, OF_CALLABLE, out);
        text_add(out, ": recommended is the one with the smallest worst error.\n");
    } else if (own) {
        add_near(answer, out);
    }
    if (answer->tuned) {
        clean_format(out, FORM_LINE, own->ranked->dispatched[0] ? "Dispatch picks %s; " : "",
                     own->ranked->dispatched);
        clean_format(out, FORM_LINE, "%s is %s times as fast here, within %g row ULP.\n",
                     answer->tuned->kernel,
                     answer_times(own->relative / answer->tuned->relative, number),
                     STANDING_ROW_ULP);
    }
}

/* Where no error was judged. */
static void add_unjudged(const run_answer *answer, text_buffer *out)
{
    char name[64];
    if (answer->fastest) {
        clean_format(out, FORM_LINE, "%s is ", answer->fastest->kernel);
        add_speedups(answer, answer->fastest, out);
        text_format(out, " at %s; errors", answer_shape(answer, name));
    }
    text_format(out, "%s were not judged.\n", answer->fastest ? "" : "Errors");
}

static void add_fastest(const run_answer *answer, text_buffer *out)
{
    const answer_row *fastest = answer->fastest, *own = answer->recommended;
    char number[16], objection[OBJECTION_WORDS];
    if (answer->untold_count[OF_ALL] > 1) {
        text_add(out, "Too noisy to say which kernel is fastest at any error: ");
        add_untold(answer, OF_ALL, out);
        text_add(out, ".\n");
    }
    if (!fastest || !own || fastest == own || fastest == answer->tuned || fastest->ranked->near)
        return;
    if (own->tied)
        clean_format(out, FORM_LINE, "%s shows no significant difference in speed, but ",
                     fastest->kernel);
    else
        clean_format(out, FORM_LINE,
                     strcmp(answer_times(own->relative / fastest->relative, number), "1.0") == 0
                         ? "%s is hardly faster, but "
                         : "%s is %s times as fast as the recommended kernel, but ",
                     fastest->kernel, number);
    stored_case worst;
    bool known = store_case(answer->view->store, fastest->standing->errors[SCOPE_ANY].at, &worst);
    if (fastest->ranked->within && fastest->ranked->callable)
        text_format(out, "is not recommended: %s.\n", answer_doubt(answer, fastest));
    else if (fastest->ranked->within)
        text_add(out, "ln_layernorm() does not call it.\n");
    else
        text_format(
            out, "%s.\n",
            standing_objection(fastest->standing, known ? &worst.verdict : NULL, objection));
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
    else if (answer->cases == 0)
        add_unjudged(answer, out);
    else
        add_recommended(answer, out);
    add_fastest(answer, out);
    add_lost(answer, out);
}
