/* Choices as text, Markdown and TSV. */
#include "commands/choose/class.h"
#include "commands/choose/show.h"
#include "views/answer.h"
#include <ctype.h>
#include <math.h>
#include <string.h>

enum { RUNNERS_UP = 4 };

static const char *const fate_names[] = {
    [FATE_BEST] = "best",          [FATE_TIED] = "tied",         [FATE_SLOWER] = "slower",
    [FATE_BUDGET] = "over budget", [FATE_UNJUDGED] = "unjudged", [FATE_FAULT] = "ruled out",
    [FATE_UNTIMED] = "not timed",
};

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

/* Stored text may be anything: control characters would drive the terminal. */
static const char *shown(const char *string, char *buffer, size_t size)
{
    size_t length = 0;
    for (; string[length] && length + 1 < size; length++)
        buffer[length] = iscntrl((unsigned char)string[length]) ? '?' : string[length];
    buffer[length] = '\0';
    return buffer;
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

const char *estimate_words(const chosen *one, char buffer[128])
{
    const kernel_evidence *evidence = &one->evidence;
    const case_key *group = &evidence->group;
    char convention[64];
    size_t length = 0;
    buffer[0] = '\0';
    if (evidence->timed && !evidence->same_shape)
        length = (size_t)snprintf(buffer, 128, "%zu x %zu", group->rows, group->hidden);
    if (evidence->timed && !evidence->same_convention)
        snprintf(buffer + length, 128 - length, "%s%s", length ? ", " : "",
                 shown(group->convention, convention, sizeof convention));
    return buffer;
}

/* Two digits, since it is none that was measured: "~43". */
static const char *estimate(double value, char buffer[64])
{
    double unit = value > 0 ? pow(10, floor(log10(value)) - 1) : 1;
    snprintf(buffer, 64, "~%.*f", value >= 10 ? 0 : value >= 1 ? 1 : 2, round(value / unit) * unit);
    return buffer;
}

/* Columns in the order in which they stand; `rank`: the highest go first where there is no room. */
typedef struct column {
    const char *heading;
    int rank;
    void (*add)(text_table *table, const chosen *one, const scored_kernel *candidate);
} column;

static void add_number(text_table *table, double value)
{
    char number[16];
    table_cell(table, number_short(value, number));
}

static void add_kernel(text_table *table, const chosen *one, const scored_kernel *candidate)
{
    char name[NAME_MAX_LENGTH];
    (void)one;
    table_cell(table, shown(candidate->view.stored->key.kernel, name, sizeof name));
}

static void add_time(text_table *table, const chosen *one, const scored_kernel *candidate)
{
    char buffer[64];
    const speed_figures *speed = &candidate->view.speed;
    if (evidence_is_estimate(&one->evidence) && !isnan(speed->time_ns))
        table_cell(table, estimate(speed->time_ns / 1e3, buffer));
    else
        table_cell(table, interval(speed->time_ns / 1e3, speed->time_lo_ns / 1e3,
                                   speed->time_hi_ns / 1e3, brackets, buffer));
}

static void add_ratio(text_table *table, const chosen *one, const scored_kernel *candidate)
{
    char buffer[64];
    (void)one;
    table_cell(table, candidate->fate == FATE_BEST ? "1" : ratio_words(&candidate->pair, buffer));
}

static void add_roof(text_table *table, const chosen *one, const scored_kernel *candidate)
{
    (void)one;
    add_number(table, candidate->view.speed.roof_ratio);
}

static void add_row_ulp(text_table *table, const chosen *one, const scored_kernel *candidate)
{
    (void)one;
    add_number(table, candidate->row_ulp);
}

static void add_bound(text_table *table, const chosen *one, const scored_kernel *candidate)
{
    (void)one;
    if (candidate->bound >= dtype_no_digit(candidate->view.stored->key.dtype))
        table_cell(table, "none");
    else
        add_number(table, candidate->bound);
}

static void add_ulp(text_table *table, const chosen *one, const scored_kernel *candidate)
{
    (void)one;
    add_number(table, candidate->ulp);
}

static void add_rounded(text_table *table, const chosen *one, const scored_kernel *candidate)
{
    (void)one;
    if (isnan(candidate->correctly_rounded))
        table_cell(table, "-");
    else
        table_format(table, "%.1f", 100 * candidate->correctly_rounded);
}

static void add_bits(text_table *table, const chosen *one, const scored_kernel *candidate)
{
    (void)one;
    add_number(table, candidate->bits);
}

static void add_reproducible(text_table *table, const chosen *one, const scored_kernel *candidate)
{
    (void)one;
    table_cell(table, candidate->view.reproducibility ? candidate->view.reproducibility : "-");
}

static void add_why(text_table *table, const chosen *one, const scored_kernel *candidate)
{
    char reason[sizeof candidate->reason], pareto[] = "; on the Pareto front";
    (void)one;
    if (!candidate->pareto || candidate->fate == FATE_BEST)
        pareto[0] = '\0';
    table_format(table, "%s%s", shown(candidate->reason, reason, sizeof reason), pareto);
}

static const column columns[] = {
    {"kernel", 0, add_kernel},
    {"us a call", 2, add_time},
    {"times the best's", 1, add_ratio},
    {"of the roof", 5, add_roof},
    {"row ULP", 1, add_row_ulp},
    {"proven", 4, add_bound},
    {"max ULP", 6, add_ulp},
    {"rounded right %", 7, add_rounded},
    {"bits", 8, add_bits},
    {"reproducible", 2, add_reproducible},
    {"why", 3, add_why},
};
enum { COLUMNS = sizeof columns / sizeof *columns, MOST_RANK = 9 };

static bool is_shown(const chosen *one, size_t index, bool explain)
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

/* The table with the columns below a rank. */
static text_table *make_table(const chosen *one, bool explain, int rank)
{
    const char *headings[COLUMNS];
    size_t count = 0;
    for (size_t i = 0; i < COLUMNS; i++)
        if (columns[i].rank < rank)
            headings[count++] = columns[i].heading;
    text_table *table = table_create(headings, count);
    for (size_t i = 0; i < one->choice.count; i++)
        for (size_t c = 0; c < COLUMNS; c++)
            if (columns[c].rank < rank && is_shown(one, i, explain))
                columns[c].add(table, one, &one->choice.candidates[i]);
    return table;
}

static bool print_table(const chosen *one, const choose_look *look, FILE *file)
{
    text_table *table = make_table(one, look->explain, MOST_RANK);
    for (int rank = MOST_RANK - 1;
         look->format == OUTPUT_TEXT && look->width && rank > 1 && table_width(table) > look->width;
         rank--) {
        table_destroy(table);
        table = make_table(one, look->explain, rank);
    }
    bool fine =
        table && (look->format == OUTPUT_MARKDOWN ? table_print_markdown(table, file)
                                                  : table_print_within(table, look->width, file));
    table_destroy(table);
    return fine;
}

static bool print_heading(const chosen *one, const choose_look *look, FILE *file)
{
    const choose_wanted *wanted = &one->wanted;
    const machine_facts *machine = &one->evidence.machine;
    text_buffer budget = {0};
    budget_words(wanted, &budget);
    if (budget.failed) {
        text_free(&budget);
        return false;
    }
    const char *param = wanted->param && strcmp(wanted->param, dtype_name(wanted->dtype)) != 0
                            ? wanted->param
                            : NULL;
    bool normal = strcmp(wanted->time_on, "normal") == 0;
    fprintf(file, "%s%zu x %zu %s%s%s, %s%s%s, %s, %s, %u thread%s: %s\n%s",
            look->format == OUTPUT_MARKDOWN ? "## " : "", wanted->rows, wanted->hidden,
            dtype_name(wanted->dtype), param ? ", parameters " : "", param ? param : "",
            wanted->convention_label, normal ? "" : ", on ", normal ? "" : wanted->time_on,
            machine_regime(machine, wanted->rows, wanted->hidden, wanted->dtype),
            cache_phrase(wanted->cache), wanted->threads, wanted->threads == 1 ? "" : "s",
            budget.bytes, look->format == OUTPUT_MARKDOWN ? "\n" : "");
    text_free(&budget);
    return true;
}

static void print_run(const chosen *one, FILE *file)
{
    const kernel_evidence *evidence = &one->evidence;
    const char *hash = one->choice.count ? one->choice.candidates[0].object_hash : "";
    char commit[16], started[32], library[20];
    fprintf(file, "%s run %lld, %s, commit %s; library %s%s\n",
            one->measured ? "measured now:" : "from what is stored of this machine:",
            (long long)evidence->run.id, shown(evidence->run.started, started, sizeof started),
            shown(machine_fact_value(&evidence->machine, "git_commit"), commit, 11),
            hash[0] ? shown(hash, library, sizeof library) : "not recorded",
            !one->wanted.libraries   ? ""
            : evidence->same_library ? ", as it is now"
                                     : ", NOT the one there is now: --fresh measures anew");
}

/* Where the figures come from, and what they are not. */
static void print_origin(const chosen *one, const choose_look *look, FILE *file)
{
    const choose_wanted *wanted = &one->wanted;
    const kernel_evidence *evidence = &one->evidence;
    const case_key *group = &evidence->group;
    const scored_kernel *best = one->choice.best;
    print_run(one, file);
    if (!evidence->same_shape)
        fprintf(file, "an estimate: times are scaled by bytes from %zu x %zu, %s\n", group->rows,
                group->hidden,
                group->hidden == wanted->hidden && group->rows < wanted->rows &&
                        group->rows == rows_to_time(wanted->rows, wanted->hidden, wanted->dtype,
                                                    &evidence->machine)
                    ? "as many rows of DRAM as are timed"
                    : "the nearest in the same regime: --fresh measures this shape");
    if (!evidence->same_convention)
        fprintf(file,
                "an estimate: timed under %s, which has the same affine form: divisor and eps cost "
                "nothing\n",
                group->convention);
    if (evidence->run.state != RUN_COMPLETE)
        fprintf(file, "run %lld is not complete: --fresh measures anew\n",
                (long long)evidence->run.id);
    if (best && best->judged_hidden != wanted->hidden)
        fprintf(file, "errors are an estimate: judged at hidden %zu\n", best->judged_hidden);
    if (look->no_kappa)
        fputs("errors are those of normal rows; rows far off zero cost digits: --kappa K asks "
              "for them\n",
              file);
}

static void print_best(const chosen *one, const choose_look *look, FILE *file)
{
    const scored_kernel *best = one->choice.best;
    char name[NAME_MAX_LENGTH], time[64], numbers[3][16];
    if (!best) {
        char words[512];
        chosen_best_there_is(one, words, sizeof words);
        fprintf(file, "\nnothing meets the budget: %s\n\n", words);
        return;
    }
    const speed_figures *speed = &best->view.speed;
    char from[128];
    fprintf(file, "\nuse %s%s%s: ", look->colour ? "\033[1m" : "",
            shown(best->view.stored->key.kernel, name, sizeof name), look->colour ? "\033[0m" : "");
    if (estimate_words(one, from)[0])
        fprintf(file, "%s us, from %s; ", estimate(speed->time_ns / 1e3, time), from);
    else
        fprintf(file, "%s us a call, ",
                interval(speed->time_ns / 1e3, speed->time_lo_ns / 1e3, speed->time_hi_ns / 1e3,
                         brackets, time));
    fprintf(file, "%s of the roof, row ULP %s", number_short(speed->roof_ratio, numbers[0]),
            number_short(best->row_ulp, numbers[1]));
    if (best->bound < dtype_no_digit(one->wanted.dtype))
        fprintf(file, " (proven %s)", number_short(best->bound, numbers[2]));
    fputs("\n\n", file);
}

/* What lies beside the best on the front. */
static void print_neighbour(const chosen *one, const scored_kernel *other, const char *what,
                            FILE *file)
{
    const choose_wanted *wanted = &one->wanted;
    const scored_kernel *best = one->choice.best;
    char name[NAME_MAX_LENGTH], ratio[64], numbers[2][16];
    if (!other)
        return;
    bool apart = other->pair.lo > 1 || other->pair.hi < 1;
    fprintf(file, "%s accurate: %s: error %s instead of %s, ", what,
            shown(other->view.stored->key.kernel, name, sizeof name),
            number_short(candidate_error(wanted, other), numbers[0]),
            number_short(candidate_error(wanted, best), numbers[1]));
    if (isnan(other->pair.ratio))
        fputs("timed in other rounds\n", file);
    else
        fprintf(file, "takes %s times as long%s\n", ratio_words(&other->pair, ratio),
                apart ? "" : ": not told apart in speed");
}

static void print_ties(const chosen *one, FILE *file)
{
    const choose_wanted *wanted = &one->wanted;
    for (size_t i = 0; i < one->choice.count; i++) {
        const scored_kernel *tied = &one->choice.candidates[i];
        char name[NAME_MAX_LENGTH], ratio[64];
        if (tied->fate != FATE_TIED)
            continue;
        int order = compare_errors(candidate_error(wanted, tied),
                                   candidate_error(wanted, one->choice.best));
        fprintf(file, "%s: %s, %s%s, %s accurate\n",
                tied->pair.hi < 1 ? "faster by its rounds alone" : "not told apart from it",
                shown(tied->view.stored->key.kernel, name, sizeof name),
                isnan(tied->pair.ratio) ? "timed in other rounds" : ratio_words(&tied->pair, ratio),
                isnan(tied->pair.ratio) ? "" : " of its time",
                order < 0   ? "more"
                : order > 0 ? "less"
                            : "as");
    }
}

/* What the answer rests on: how uncertain the speeds shown are, and what has no result. */
static bool print_basis(const chosen *one, const choose_look *look, FILE *file)
{
    const kernel_choice *choice = &one->choice;
    speed_noise noise = {0};
    coverage covered = {0};
    text_buffer line = {0};
    for (size_t i = 0; i < choice->count; i++) {
        const speed_figures *speed = &choice->candidates[i].view.speed;
        if (is_shown(one, i, look->explain) && !isnan(speed->time_ns))
            noise_count(&noise, (speed->time_hi_ns - speed->time_lo_ns) / 2 / speed->time_ns);
    }
    noise_add_line(&line, &noise, "measure longer: --fresh --time 300");
    chosen_cover(one, &covered);
    if (one->evidence.timed && !one->evidence.run.counts.known)
        text_format(&line, "run %lld does not say what it was asked for; of what it has: ",
                    (long long)one->evidence.run.id);
    coverage_add_line(&line, &covered, "judged");
    coverage_free(&covered);
    if (!line.failed && look->format == OUTPUT_TEXT)
        text_make_printable(line.bytes, "\n");
    bool fine = !line.failed && fprintf(file, "%s%s\n", choice->best ? "" : "\n", line.bytes) > 0;
    text_free(&line);
    return fine;
}

static bool print_one(const chosen *one, const choose_look *look, FILE *file)
{
    if (!print_heading(one, look, file))
        return false;
    print_origin(one, look, file);
    print_best(one, look, file);
    bool fine = one->choice.count == 0 || print_table(one, look, file);
    if (fine && one->choice.best) {
        fputs("\n", file);
        print_ties(one, file);
        print_neighbour(one, one->choice.more_accurate, "more", file);
        if (!one->choice.more_accurate)
            fputs("none of them is more accurate by 1 % or more\n", file);
        print_neighbour(one, one->choice.less_accurate, "less", file);
    }
    return fine && print_basis(one, look, file) && !ferror(file);
}

/* One table of all shapes, in units that programs like. */
static bool print_data(const chosen *all, size_t count, const choose_look *look, FILE *file)
{
    static const char *const headings[] = {
        "rows",       "hidden",     "kernel",        "fate",         "time_ns",
        "time_lo_ns", "time_hi_ns", "ratio",         "ratio_lo",     "ratio_hi",
        "roof_ratio", "row_ulp",    "bound_row_ulp", "ulp",          "correctly_rounded",
        "bits",       "pareto",     "reason",        "reproducible", "estimated_from"};
    char from[128];
    text_table *table = table_create(headings, sizeof headings / sizeof *headings);
    for (size_t s = 0; s < count; s++)
        for (size_t i = 0; i < all[s].choice.count; i++) {
            const scored_kernel *own = &all[s].choice.candidates[i];
            const speed_figures *speed = &own->view.speed;
            const double figures[] = {speed->time_ns,    speed->time_lo_ns,      speed->time_hi_ns,
                                      own->pair.ratio,   own->pair.lo,           own->pair.hi,
                                      speed->roof_ratio, own->row_ulp,           own->bound,
                                      own->ulp,          own->correctly_rounded, own->bits};
            if (!is_shown(&all[s], i, look->explain))
                continue;
            table_format(table, "%zu", all[s].wanted.rows);
            table_format(table, "%zu", all[s].wanted.hidden);
            table_cells(table, own->view.stored->key.kernel, fate_names[own->fate]);
            for (size_t f = 0; f < sizeof figures / sizeof *figures; f++)
                if (isnan(figures[f]))
                    table_cell(table, "NaN");
                else
                    table_format(table, "%.17g", figures[f]);
            table_cells(table, own->pareto ? "1" : "0", own->reason);
            add_reproducible(table, &all[s], own);
            table_cell(table, estimate_words(&all[s], from));
        }
    bool fine = table && table_print_data(table, look->format == OUTPUT_CSV, file);
    table_destroy(table);
    return fine;
}

bool chosen_print(const chosen *all, size_t count, const choose_look *look, FILE *file)
{
    if (look->format == OUTPUT_TSV || look->format == OUTPUT_CSV)
        return print_data(all, count, look, file);
    bool fine = true;
    for (size_t i = 0; fine && i < count; i++) {
        if (i > 0)
            fputs("\n", file);
        fine = print_one(&all[i], look, file);
    }
    return fine;
}

void chosen_best_there_is(const chosen *one, char *buffer, size_t size)
{
    const scored_kernel *best = one->choice.most_accurate;
    char name[NAME_MAX_LENGTH], numbers[3][16];
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
        shown(best->view.stored->key.kernel, name, sizeof name), proven ? "proven " : "",
        number_short(proven ? best->bound : best->row_ulp, numbers[0]),
        number_short(best->ulp, numbers[1]), 100 * best->correctly_rounded,
        number_short(best->bits, numbers[2]));
}
