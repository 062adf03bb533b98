/* Choices as text and Markdown. */
#include "commands/choose/show.h"
#include "show/answer.h"
#include "base/clean.h"
#include <math.h>
#include <string.h>

enum { RUNNERS_UP = 4 };

static void add_limit(text_buffer *out, const char *what, double limit, const char *unit)
{
    if (!isnan(limit))
        text_format(out, "%s%s %.6g%s", out->length ? ", " : "", what, limit, unit);
}

void budget_words(const choose_wanted *wanted, text_buffer *out)
{
    const choose_budget *budget = &wanted->budget;
    if (wanted->class != CLASS_ANY)
        text_format(out, "class %s", class_name(wanted->class));
    add_limit(out, budget->proven ? "proven row ULP at most" : "row ULP at most", budget->row_ulp,
              "");
    add_limit(out, "max ULP at most", budget->ulp, "");
    add_limit(out, "correctly rounded at least", 100 * budget->correctly_rounded, " %");
    add_limit(out, "bits at least", budget->bits, "");
    if (out->length == 0)
        text_add(out, "no error budget");
    add_limit(out, "rows of kappa to", budget->kappa, "");
}

static const char *interval(double value, double lo, double hi, const char *format, char buffer[64])
{
    char numbers[3][16];
    if (isnan(value))
        return "-";
    snprintf(buffer, 64, format, number_short(value, numbers[0]), number_short(lo, numbers[1]),
             number_short(hi, numbers[2]));
    return buffer;
}

static const char *const brackets = "%s [%s, %s]";

/* Ratios near 1 need their third decimal. */
static const char *ratio_words(const speed_pair *pair, char buffer[64])
{
    if (isnan(pair->ratio))
        return "-";
    snprintf(buffer, 64, "%.3f [%.3f, %.3f]", pair->ratio, pair->lo, pair->hi);
    return buffer;
}

const char *estimate_words(const chosen *one, char buffer[192])
{
    const kernel_evidence *evidence = &one->evidence;
    const case_key *group = &evidence->group;
    size_t length = 0;
    buffer[0] = '\0';
    if (evidence->timed && !evidence->same_shape)
        length = (size_t)snprintf(buffer, 192, "%zu x %zu", group->rows, group->hidden);
    if (evidence->timed && !evidence->same_convention)
        snprintf(buffer + length, 192 - length, "%s%s", length ? ", " : "", group->convention);
    return buffer;
}

/* Two digits, since it is none that was measured: "~43". */
static const char *estimate(double value, char buffer[64])
{
    double unit = value > 0 ? pow(10, floor(log10(value)) - 1) : 1;
    snprintf(buffer, 64, "~%.*f", value >= 10 ? 0 : value >= 1 ? 1 : 2, round(value / unit) * unit);
    return buffer;
}

static relation_value as_time(const chosen *one, const speed_figures *speed)
{
    char buffer[64];
    return as_text(evidence_is_estimate(&one->evidence) && !isnan(speed->time_ns)
                       ? estimate(speed->time_ns / 1e3, buffer)
                       : interval(speed->time_ns / 1e3, speed->time_lo_ns / 1e3,
                                  speed->time_hi_ns / 1e3, brackets, buffer));
}

bool chosen_shows(const chosen *one, size_t index, bool explain)
{
    const kernel_choice *choice = &one->choice;
    const scored_kernel *candidate = &choice->candidates[index];
    if (explain || candidate == choice->most_accurate)
        return true;
    if (!choice->best)
        return candidate->pareto;
    return (candidate->fate <= FATE_SLOWER && index <= RUNNERS_UP) ||
           candidate == choice->more_accurate || candidate == choice->less_accurate;
}

static bool print_table(const chosen *one, const choose_look *look, const output_file *out,
                        error *err)
{
    static const relation_column columns[] = {
        FOR_PEOPLE("kernel"),
        {"us a call", .priority = 2},
        FOR_PEOPLE("times the best's"),
        {"of the copy", .priority = 5},
        FOR_PEOPLE("row ULP"),
        {"proven", .priority = 4},
        {"max ULP", .priority = 6},
        {"rounded right", .format = "%.1f", .unit = "%", .priority = 7},
        {"bits", .priority = 8},
        {"reproducible", .priority = 2},
        {"why", .priority = 3},
    };
    relation *table = relation_create(COLUMNS(columns));
    for (size_t i = 0; i < one->choice.count; i++) {
        const scored_kernel *own = &one->choice.candidates[i];
        char ratio[64];
        if (!chosen_shows(one, i, look->explain))
            continue;
        bool none = own->bound >= dtype_no_digit(own->view.stored->key.dtype);
        relation_row(
            table, as_text(own->view.stored->key.kernel), as_time(one, &own->view.speed),
            as_text(own->fate == FATE_BEST ? "1" : ratio_words(&own->pair, ratio)),
            as_figure(own->view.speed.copy_ratio), as_figure(own->row_ulp),
            none ? as_text("none") : as_figure(own->bound), as_figure(own->ulp),
            as_figure(own->correctly_rounded), as_figure(own->bits),
            as_text(own->view.reproducibility),
            as_format("%s%s", own->reason,
                      own->pareto && own->fate != FATE_BEST ? "; on the Pareto front" : ""));
    }
    return relation_print(table, out, err);
}

/* "gpt2: 85 x 768 f32, torch, L2, hot cache, 1 thread: row ULP at most 2" */
static void add_question(const chosen *one, text_buffer *out)
{
    const choose_wanted *wanted = &one->wanted;
    text_buffer budget = {0};
    const char *param = wanted->param && strcmp(wanted->param, dtype_name(wanted->dtype)) != 0
                            ? wanted->param
                            : NULL;
    bool normal = strcmp(wanted->time_on, "normal") == 0;
    budget_words(wanted, &budget);
    clean_format(out, FORM_LINE, "%s%s%zu x %zu %s%s%s%s, %s%s%s, %s, %s, %u thread%s: %s",
                 wanted->model ? wanted->model : "", wanted->model ? ": " : "", wanted->rows,
                 wanted->hidden, dtype_name(wanted->dtype),
                 wanted->model && !wanted->type_named ? " (--dtypes bf16 for bf16)" : "",
                 param ? ", parameters " : "", param ? param : "", wanted->convention_label,
                 normal ? "" : ", on ", normal ? "" : wanted->time_on,
                 machine_regime(&one->evidence.machine, wanted->convention.operation, wanted->rows,
                                wanted->hidden, wanted->dtype),
                 cache_phrase(wanted->cache), wanted->threads, wanted->threads == 1 ? "" : "s",
                 budget.failed ? "" : budget.bytes);
    text_add(out, "\n");
    text_free(&budget);
}

static void add_run(const chosen *one, text_buffer *out)
{
    const kernel_evidence *evidence = &one->evidence;
    bool here = one->wanted.libraries != NULL;
    clean_format(out, FORM_LINE, "%s%.127s: run %lld, %.31s, commit %.10s%s%s",
                 one->measured ? "measured now" : "from what is stored of ",
                 one->measured ? ""
                 : here        ? "this machine"
                               : machine_fact_value(&evidence->machine, "cpu_model"),
                 (long long)evidence->run.id, evidence->run.started,
                 machine_fact_value(&evidence->machine, "git_commit"),
                 !here || evidence->same_library
                     ? ""
                     : "; NOT the library there is now: --fresh measures anew",
                 answer_provisional(evidence->run.plan));
    text_add(out, "\n");
    if (evidence->run.state != RUN_COMPLETE)
        text_format(out, "run %lld is not complete: --fresh measures anew\n",
                    (long long)evidence->run.id);
    if (evidence->timed && !evidence->run.counts.known)
        text_format(out, "run %lld does not say what it was asked for\n",
                    (long long)evidence->run.id);
}

/* What the figures are not. */
static void add_warnings(const chosen *one, text_buffer *out)
{
    const choose_wanted *wanted = &one->wanted;
    const choose_budget *budget = &wanted->budget;
    const kernel_evidence *evidence = &one->evidence;
    const case_key *group = &evidence->group;
    if (!evidence->same_shape)
        text_format(out, "an estimate: times are scaled by bytes from %zu x %zu, %s\n", group->rows,
                    group->hidden,
                    group->hidden == wanted->hidden && group->rows < wanted->rows &&
                            group->rows == rows_to_time(wanted->rows, wanted->hidden, wanted->dtype,
                                                        &evidence->machine)
                        ? "as many rows of DRAM as are timed"
                        : "the nearest in the same regime: --fresh measures this shape");
    if (!evidence->same_convention) {
        clean_format(out, FORM_LINE,
                     "an estimate: timed under %s, which has the same affine form: divisor and eps "
                     "cost nothing",
                     group->convention);
        text_add(out, "\n");
    }
    if (wanted->every_row && (budget->proven || !isnan(budget->ulp) || !isnan(budget->bits) ||
                              !isnan(budget->correctly_rounded)))
        text_format(out, "%s of normal rows alone: --kappa K asks for others\n",
                    budget->proven ? "what is proven is" : "these limits are");
}

void chosen_add_untold(const chosen *one, text_buffer *out)
{
    size_t count = one->choice.untold_count;
    text_add(out, "too noisy to say which is fastest of ");
    for (size_t i = 0; i < count; i++)
        clean_format(out, FORM_LINE, "%s%s",
                     i == 0           ? ""
                     : i + 1 == count ? " and "
                                      : ", ",
                     one->choice.untold[i]->view.stored->key.kernel);
}

static void print_untold(const chosen *one, const output_file *out)
{
    text_buffer words = {0};
    if (one->choice.untold_count < 2)
        return;
    chosen_add_untold(one, &words);
    output_text(out, "%s: taken is the one with the smallest error\n\n",
                words.bytes ? words.bytes : "");
    text_free(&words);
}

static void print_best(const chosen *one, const output_file *out)
{
    const scored_kernel *best = one->choice.best;
    char time[64], ratio[64], numbers[3][16];
    if (!best) {
        char words[512];
        chosen_best_there_is(one, words, sizeof words);
        output_text(out, "\nnothing meets the budget: %s\n\n", words);
        return;
    }
    const speed_figures *speed = &best->view.speed;
    char from[192];
    const scored_kernel *proven = one->choice.proven;
    output_text(out, "\n");
    if (proven)
        output_text(out, "proven within %s row ULP: %s, %s us%s%s%s\n",
                    number_short(one->wanted.budget.row_ulp, numbers[0]),
                    proven->view.stored->key.kernel,
                    number_short(proven->view.speed.time_ns / 1e3, numbers[1]),
                    isnan(proven->pair.ratio) ? "" : "; in the same rounds ",
                    isnan(proven->pair.ratio) ? "" : ratio_words(&proven->pair, ratio),
                    isnan(proven->pair.ratio) ? "" : " times as long as the next");
    output_text(out, "use ");
    output_colour(out, "");
    output_text(out, "%s", best->view.stored->key.kernel);
    output_colour(out, NULL);
    output_text(out, proven ? ", which has no such proof" : "");
    if (estimate_words(one, from)[0])
        output_text(out, ": %s us, from %s; ", estimate(speed->time_ns / 1e3, time), from);
    else
        output_text(out, ": %s us a call, ",
                    interval(speed->time_ns / 1e3, speed->time_lo_ns / 1e3, speed->time_hi_ns / 1e3,
                             brackets, time));
    output_text(out, "%s of the copy, ", number_short(speed->copy_ratio, numbers[0]));
    output_text(out, "at most %s row ULP on ", number_short(best->row_ulp, numbers[1]));
    if (best->judged == 1)
        output_text(out, "the one case judged");
    else
        output_text(out, one->wanted.every_row ? "all %zu cases" : "%zu cases", best->judged);
    if (!isnan(one->wanted.budget.kappa))
        output_text(out, " of kappa to %s", number_short(best->judged_kappa, numbers[2]));
    else if (!one->wanted.every_row)
        output_text(out, " of normal rows");
    if (best->of_class > 0)
        output_text(out, "; of its class by %zu cases", best->of_class);
    if (best->hunted > best->row_ulp)
        output_text(out, ", %s on adversarial rows", number_short(best->hunted, numbers[2]));
    if (best->bound < dtype_no_digit(one->wanted.dtype))
        output_text(out, one->wanted.every_row ? " (proven %s on normal rows)" : " (proven %s)",
                    number_short(best->bound, numbers[2]));
    output_text(out, "\n\n");
    print_untold(one, out);
}

/* What lies beside the best on the front. */
static void print_neighbour(const chosen *one, const scored_kernel *other, const char *what,
                            const output_file *out)
{
    const choose_wanted *wanted = &one->wanted;
    const scored_kernel *best = one->choice.best;
    char ratio[64], numbers[2][16];
    if (!other)
        return;
    bool apart = other->pair.lo > 1 || other->pair.hi < 1;
    output_text(out, "%s accurate: %s: error %s instead of %s, ", what,
                other->view.stored->key.kernel,
                number_short(candidate_error(wanted, other), numbers[0]),
                number_short(candidate_error(wanted, best), numbers[1]));
    if (isnan(other->pair.ratio))
        output_text(out, "timed in other rounds\n");
    else
        output_text(out, "takes %s times as long%s\n", ratio_words(&other->pair, ratio),
                    apart ? "" : ": no significant difference in speed");
}

/* The fastest of all, whatever its error, where none of the lines above names it. */
static void print_fastest(const chosen *one, const output_file *out)
{
    const kernel_choice *choice = &one->choice;
    const scored_kernel *fastest = choice->best;
    char ratio[64];
    for (size_t i = 0; i < choice->count; i++)
        if (choice->candidates[i].fate != FATE_UNTIMED &&
            view_by_speed(&choice->candidates[i].view, &fastest->view) < 0)
            fastest = &choice->candidates[i];
    if (fastest->fate > FATE_SLOWER && fastest != choice->less_accurate)
        output_text(out, "the fastest at any error: %s, %s of its time: %s\n",
                    fastest->view.stored->key.kernel, ratio_words(&fastest->pair, ratio),
                    fastest->reason);
}

static void print_ties(const chosen *one, const output_file *out)
{
    const choose_wanted *wanted = &one->wanted;
    for (size_t i = 0; i < one->choice.count; i++) {
        const scored_kernel *tied = &one->choice.candidates[i];
        char ratio[64];
        if (tied->fate != FATE_TIED)
            continue;
        int order = compare_errors(candidate_error(wanted, tied),
                                   candidate_error(wanted, one->choice.best));
        output_text(
            out, "%s: %s, %s%s, %s accurate\n",
            tied->pair.hi < 1 ? "faster by its rounds alone" : "no significant difference to it",
            tied->view.stored->key.kernel,
            isnan(tied->pair.ratio) ? "timed in other rounds" : ratio_words(&tied->pair, ratio),
            isnan(tied->pair.ratio) ? "" : " of its time",
            order < 0   ? "more"
            : order > 0 ? "less"
                        : "as");
    }
}

/* What the answers rest on: how uncertain the speeds shown are, and what has no result. */
static void add_basis(const chosen *all, size_t count, const choose_look *look, text_buffer *out)
{
    speed_noise noise = {0};
    coverage covered = {0};
    for (size_t s = 0; s < count; s++) {
        const kernel_choice *choice = &all[s].choice;
        for (size_t i = 0; i < choice->count; i++) {
            const speed_figures *speed = &choice->candidates[i].view.speed;
            if (chosen_shows(&all[s], i, look->explain) && !isnan(speed->time_ns))
                noise_count(&noise, (speed->time_hi_ns - speed->time_lo_ns) / 2 / speed->time_ns);
        }
        chosen_cover(&all[s], &covered);
    }
    text_format(out, "kernels at %s: ", count == 1 ? "this shape" : "these shapes");
    coverage_add_line(out, &covered, "judged");
    text_add(out, "\n");
    if (look->explain || noise.wide > 0)
        noise_add_line(out, &noise, "measure longer: --fresh --time 300");
    coverage_free(&covered);
}

static bool print_one(const chosen *one, const choose_look *look, const output_file *out,
                      error *err)
{
    text_buffer above = {0}, below = {0};
    add_question(one, &above);
    add_run(one, &above);
    add_warnings(one, &above);
    add_basis(one, 1, look, &below);
    bool fine = !above.failed && !below.failed;
    output_text(out, "%-s", out->format == OUTPUT_MARKDOWN ? "## " : "");
    output_wrapped(out, fine ? above.bytes : "");
    print_best(one, out);
    fine = fine && (one->choice.count == 0 || print_table(one, look, out, err));
    if (fine && one->choice.best) {
        output_text(out, "\n");
        print_ties(one, out);
        print_neighbour(one, one->choice.more_accurate, "more", out);
        if (!one->choice.more_accurate)
            output_text(out, "none of them is more accurate by 1 %% or more\n");
        print_neighbour(one, one->choice.less_accurate, "less", out);
        print_fastest(one, out);
    }
    output_text(out, one->choice.best ? "" : "\n");
    output_wrapped(out, fine ? below.bytes : "");
    text_free(&above);
    text_free(&below);
    return fine && !ferror(out->file);
}

/* "4.04 us", or "~43 us, from 1024 x 1600", and the error. */
static void add_figures(const chosen *one, const scored_kernel *own, text_buffer *out)
{
    char time[64], from[192], off[16];
    double us = own->view.speed.time_ns / 1e3;
    if (estimate_words(one, from)[0])
        text_format(out, "%s us, from %s", estimate(us, time), from);
    else
        text_format(out, "%s us", number_short(us, time));
    text_format(out, ", %s row ULP", number_short(own->row_ulp, off));
    if (own->hunted > own->row_ulp)
        text_format(out, " (%s on adversarial rows)", number_short(own->hunted, off));
}

/* What to take at a shape, and what is proven, in a line each. */
static void add_answer(const chosen *one, text_buffer *out)
{
    const kernel_choice *choice = &one->choice;
    const scored_kernel *best = choice->best, *proven = choice->proven;
    char words[512], ratio[16];
    if (!best) {
        chosen_best_there_is(one, words, sizeof words);
        text_format(out, "nothing meets the budget: %s\n", words);
        return;
    }
    clean_format(out, FORM_LINE, "take %s: ", best->view.stored->key.kernel);
    add_figures(one, best, out);
    if (best->judged_hidden != one->wanted.hidden)
        text_format(out, ", judged at hidden %zu", best->judged_hidden);
    text_add(out, "\n");
    if (choice->untold_count > 1) {
        chosen_add_untold(one, out);
        text_add(out, ": taken is the one with the smallest error\n");
    }
    if (!proven)
        return;
    const speed_pair *pair = &proven->pair;
    clean_format(out, FORM_LINE, "proven: %s: ", proven->view.stored->key.kernel);
    add_figures(one, proven, out);
    if (isnan(pair->ratio))
        text_add(out, ", timed in other rounds\n");
    else if (pair->lo <= 1 && pair->hi >= 1)
        text_add(out, ", no significant difference in speed\n");
    else
        text_format(out, ", %s times as long\n", number_short(pair->ratio, ratio));
}

/* Three lines a shape, and what all of them rest on. */
static bool print_answers(const chosen *all, size_t count, const output_file *out)
{
    static const choose_look shortly = {.explain = false};
    text_buffer lines = {0};
    for (size_t i = 0; i < count; i++) {
        if (i == 0 || all[i].evidence.run.id != all[i - 1].evidence.run.id)
            add_run(&all[i], &lines);
        add_question(&all[i], &lines);
        add_warnings(&all[i], &lines);
        add_answer(&all[i], &lines);
    }
    add_basis(all, count, &shortly, &lines);
    text_add(&lines, "--explain: every kernel, intervals, what was ruled out and why\n");
    bool fine = !lines.failed;
    output_wrapped(out, fine ? lines.bytes : "");
    text_free(&lines);
    return fine && !ferror(out->file);
}

bool chosen_print(const chosen *all, size_t count, const choose_look *look, const output_file *out,
                  error *err)
{
    if (output_is_data(out))
        return relation_print(chosen_candidates(all, count, look->explain), out, err);
    if (!look->explain)
        return print_answers(all, count, out);
    bool fine = true;
    for (size_t i = 0; fine && i < count; i++) {
        if (i > 0)
            output_text(out, "\n");
        fine = print_one(&all[i], look, out, err);
    }
    return fine;
}

void chosen_best_there_is(const chosen *one, char *buffer, size_t size)
{
    const scored_kernel *best = one->choice.most_accurate;
    const ln_convention *convention = &one->wanted.convention;
    const operation *what = operations[convention->operation];
    char numbers[3][16];
    if (one->wanted.class == CLASS_EXACT && what->rounds_between &&
        what->rounds_between(convention)) {
        snprintf(buffer, size,
                 "no kernel is exact where numbers are rounded on the way, as %s does",
                 one->wanted.convention_label);
        return;
    }
    for (size_t i = 0; i < one->choice.count; i++)
        if (one->choice.candidates[i].fate == FATE_DOUBTED) {
            snprintf(buffer, size, "%s is accurate enough, but %s",
                     one->choice.candidates[i].view.stored->key.kernel,
                     one->choice.candidates[i].reason);
            return;
        }
    if (!best) {
        snprintf(buffer, size,
                 one->choice.unjudged ? "no kernel was judged on such rows"
                                      : "no kernel is right and timed there");
        return;
    }
    bool proven = one->wanted.budget.proven;
    snprintf(
        buffer, size,
        "the best there is, %s, has %srow ULP %s, max ULP %s, %.2f %% correctly rounded, %s bits",
        best->view.stored->key.kernel, proven ? "proven " : "",
        number_short(proven ? best->bound : best->row_ulp, numbers[0]),
        number_short(best->ulp, numbers[1]), 100 * best->correctly_rounded,
        number_short(best->bits, numbers[2]));
}
