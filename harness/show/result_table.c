/* Prints the result of a run: one table, the answer in sentences, and the failures. */
#include "show/report.h"
#include "base/text.h"
#include "base/arena.h"
#include "domain/kernel.h"
#include "store/export.h"
#include <math.h>
#include <stdlib.h>
#include <string.h>

enum { MOST_KERNELS = 6 };

exit_code result_exit_code(const run_view *view)
{
    exit_code code = EXIT_CODE_FINE;
    for (run_view part = {0}; view_next_part(view, &part);) {
        run_answer answer;
        answer_make(&part, &answer);
        code = answer.noisy ? EXIT_CODE_INCONCLUSIVE : code;
        answer_free(&answer);
    }
    return code;
}

exit_code view_exit_code(const run_view *view)
{
    exit_code worst = EXIT_CODE_FINE;
    stored_table reasons = store_ask(
        view->store,
        "SELECT DISTINCT verdict, reason FROM cells JOIN cases ON cell = cells.id JOIN judgements "
        "ON case_id = cases.id LEFT JOIN kernels ON kernels.run = cells.run AND name = kernel "
        "WHERE cells.run = ?1 AND role IS NOT 'peer'",
        "i", view->run.id);
    for (size_t i = 0; i < reasons.rows; i++) {
        case_verdict verdict = {0};
        verdict_from_words(table_text(&reasons, i, "verdict"), table_text(&reasons, i, "reason"),
                           &verdict.kind);
        worst = worse_exit_code(worst, verdict_exit_code(&verdict));
    }
    stored_table_free(&reasons);
    return worse_exit_code(worst, result_exit_code(view));
}

/* ---- choosing rows and columns ---- */

/* The table of an answer: the kernels and shapes that it shows. */
typedef struct short_table {
    const run_answer *answer;
    const answer_row **rows;
    size_t row_count;
    size_t shapes[ANSWER_COLUMNS], shape_count; /* columns of the answer */
} short_table;

/* The columns: the role of a kernel and its name, then the shapes, then these. */
enum { SHAPES = 2 };
enum { GBPS, SPEEDUP, ORDINARY, WORST, EDGE_CASES, DIGITS, REPRODUCIBLE, BEHIND_SHAPES };

static size_t place_of(const short_table *table, int behind_shapes)
{
    return SHAPES + table->shape_count + (size_t)behind_shapes;
}

/* Returns whether a column has another cache state or number of threads than the key column. */
static bool is_other_state(const run_answer *answer, size_t column)
{
    const case_key *own = &answer->columns[column].key, *key = &answer->columns[answer->key].key;
    return own->cache != key->cache || own->threads != key->threads;
}

/* Returns the priority of a shape; columns with large numbers are dropped first. The key shape stays longest, then the
 * same shape in other states, one shape of each other cache level, and the extreme hidden sizes of the key's level. */
static int shape_priority(const run_answer *answer, size_t column)
{
    const answer_column *own = &answer->columns[column], *key = &answer->columns[answer->key];
    bool last = column + 1 == answer->column_count ||
                strcmp(answer->columns[column + 1].regime, own->regime) != 0;
    bool first = column == 0 || strcmp(answer->columns[column - 1].regime, own->regime) != 0;
    if (column == answer->key)
        return 1;
    if (is_other_state(answer, column))
        return own->key.hidden == key->key.hidden && strcmp(own->regime, key->regime) == 0 ? 5 : 30;
    if (strcmp(own->regime, key->regime) != 0)
        return last ? 8 : 30;
    return last ? 9 : first ? 10 : 31;
}

/* Chooses the kernels, the fastest first, and the shapes. The caller frees table->rows. */
static void choose_table(short_table *table, const run_answer *answer, const result_look *look)
{
    *table = (short_table){.answer = answer};
    table->rows = allocate_zeroed(answer->count + 1, sizeof *table->rows);
    for (size_t i = 0; i < answer->count; i++) {
        const answer_row *row = &answer->rows[i];
        bool measured = row->all->judged > 0 || row->at_key;
        if (measured && (look->all || row->shown || answer->count <= ANSWER_ROWS))
            table->rows[table->row_count++] = row;
    }
    for (size_t i = 0; i < answer->column_count; i++)
        if (look->all || shape_priority(answer, i) < 30)
            table->shapes[table->shape_count++] = i;
}

/* ---- cells ---- */

/* Returns the largest row ULP in words. */
static relation_value as_error(const run_answer *answer, const error_sum *sum)
{
    char words[ERROR_WORDS];
    return as_text(answer_error_words(answer, sum, words));
}

static void add_row(relation *made, const short_table *table, const answer_row *row)
{
    const error_sum *errors = row->standing->errors, *edge = &errors[SCOPE_EDGE_CASES];
    const double gbps = row->at_key ? row->at_key->gbps : NAN;
    char number[16], times[16];
    relation_row(made, as_text(answer_role_word(table->answer, row)), as_text(row->label));
    for (size_t i = 0; i < table->shape_count; i++) {
        const speed_figures *speed = &row->cells[table->shapes[i]];
        const double share = 100 * speed->copy_ratio;
        const double half = 50 * (speed->copy_ratio_hi - speed->copy_ratio_lo);
        relation_add(made, speed->repetitions && !isnan(share)
                               ? as_format("%.0f ±%.*f%s", share, half < 1 ? 1 : 0, half,
                                           half > SPEED_NOISY * share ? "!" : "")
                               : as_text(NULL));
    }
    relation_row(made,
                 as_figure_words(gbps, TONE_NONE, "%s%s", number_short(gbps, number),
                                 answer_spread(row->ranked) > SPEED_NOISY ? "!" : ""),
                 as_text(answer_times(row->speedup, times)),
                 as_error(table->answer, &errors[SCOPE_ORDINARY]),
                 as_error(table->answer, &errors[SCOPE_NO_EDGE_CASES]),
                 edge->wrong     ? as_format("%zu fail", edge->wrong)
                 : edge->limited ? as_format("%zu type-limited", edge->limited)
                                 : as_text(edge->judged ? "pass" : NULL),
                 row->all->with_digits < row->all->judged
                     ? as_format("%zu/%zu", row->all->with_digits, row->all->judged)
                     : as_text(row->all->judged ? "all" : NULL),
                 as_text(row->reproducible));
}

/* Makes the table. Its last row is the copy, with 100 % at each shape. Columns without a measurement are hidden. */
static relation *make_relation(short_table *table)
{
    static const relation_column behind[BEHIND_SHAPES] = {
        {"GB/s", .priority = 12},         {"", .priority = 4},
        {"ordinary", .priority = 6},      {"worst", .priority = 3},
        {"edge cases", .priority = 7},    {"digits", .priority = 6},
        {"reproducible", .priority = 13},
    };
    const run_answer *answer = table->answer;
    const answer_column *key = &answer->columns[answer->key];
    relation_column columns[SHAPES + ANSWER_COLUMNS + BEHIND_SHAPES] = {{"", .priority = 4},
                                                                        {"kernel", .priority = 0}};
    char number[16], peer[32];
    for (size_t i = 0; i < table->shape_count; i++)
        columns[SHAPES + i] =
            (relation_column){.heading = answer->columns[table->shapes[i]].name,
                              .priority = shape_priority(answer, table->shapes[i])};
    memcpy(&columns[place_of(table, 0)], behind, sizeof behind);
    snprintf(peer, sizeof peer, "x %.20s", answer->peer ? answer->peer->label : "");
    peer[2 + strcspn(peer + 2, " ")] = '\0';
    columns[place_of(table, SPEEDUP)].heading = peer;
    relation *made = relation_create(columns, place_of(table, BEHIND_SHAPES));
    for (size_t row = 0; row < table->row_count; row++)
        add_row(made, table, table->rows[row]);
    if (answer->column_count > 0) {
        relation_row(made, as_text(""), as_text("copy, GB/s"));
        for (size_t i = 0; i < table->shape_count; i++) {
            const answer_column *column = &answer->columns[table->shapes[i]];
            relation_add(made, as_format("%s%s%s", number_short(column->copy_gbps, number),
                                         column->copy_noisy, copy_mark(column->key.kernel)));
        }
        relation_add(made, as_figure_words(key->copy_gbps, TONE_NONE, "%s%s",
                                           number_short(key->copy_gbps, number), key->copy_noisy));
        for (int i = SPEEDUP; i < BEHIND_SHAPES; i++)
            relation_add(made, as_text(""));
    }
    for (int i = GBPS; i < BEHIND_SHAPES; i++)
        if (i >= ORDINARY  ? answer->cases == 0
            : i == SPEEDUP ? !answer->peer
                           : answer->column_count == 0)
            relation_hide(made, place_of(table, i));
    return made;
}

/* ---- the text before and after the table ---- */

/* Prints the convention, the numbers of kernels, shapes and cases, and the machine. */
static void print_head(const run_view *view, const run_answer *answer, const output_file *out)
{
    const char *vm = machine_fact_value(&view->machine, "hypervisor");
    text_buffer line = {0};
    /* Columns of the same cache state and threads are adjacent. */
    const bool states = answer->column_count && is_other_state(answer, answer->column_count - 1);
    clean_format(&line, FORM_LINE, "%s %s", operations[view_operation(view)]->title,
                 dtype_name(answer->dtype));
    if (answer->column_count > 0) {
        const case_key *key = &answer->columns[answer->key].key;
        clean_format(&line, FORM_LINE, ", %s, %s, %u thread%s%s", key->convention,
                     cache_phrase(key->cache), key->threads, plural(key->threads),
                     states ? " unless a column says otherwise" : "");
        if (strcmp(key->input, "normal") != 0)
            clean_format(&line, FORM_LINE, ", timed on %s", key->input);
    }
    if (answer->isa[0])
        clean_format(&line, FORM_LINE, ", %s unless the name says otherwise", answer->isa);
    size_t kernels = 0; /* number that ran */
    for (size_t i = 0; i < answer->count; i++)
        kernels += answer->rows[i].all->judged > 0 || answer->rows[i].at_key;
    clean_format(&line, FORM_LINE,
                 "\n%zu kernel%s, %zu shape%s%s timed, up to %zu case%s each; %s, %s cores%s\n",
                 kernels, plural(kernels), answer->column_count, plural(answer->column_count),
                 states ? " and states" : "", answer->cases, plural(answer->cases),
                 machine_fact_value(&view->machine, "cpu_model"),
                 machine_fact_value(&view->machine, "cores"),
                 strcmp(vm, "none") == 0 || strcmp(vm, "unknown") == 0 ? "" : " (VM)");
    output_wrapped(out, line.bytes);
    text_free(&line);
}

/* Prints the numbers of cases, which include all types, and the types that the table does not show. */
static void print_coverage(const run_view *view, ln_type shown, const output_file *out)
{
    text_buffer line = {0};
    bool named[LN_F16 + 1] = {false}, any = false;
    named[shown] = true;
    if (!view->others)
        view_add_coverage(view, &line);
    for (size_t i = 0; i < view->standings.count; i++) {
        const ln_type type = view->standings.standings[i].dtype;
        if (!named[type])
            text_format(&line, "%s%s",
                        any ? ", " : "; not in this table, but in the page: ", dtype_name(type));
        any |= !named[type];
        named[type] = true;
    }
    if (line.length > 0)
        output_wrapped(out, line.bytes);
    text_free(&line);
}

/* Adds the meanings of the columns that are shown. */
static void add_legend(const short_table *table, const relation *shown, text_buffer *lines)
{
    const run_answer *answer = table->answer;
    const char *name = answer->columns[answer->key].name;
    const char *peer = relation_shows(shown, place_of(table, SPEEDUP)) ? answer->peer->label : "";
    char more[64] = "";
    size_t shapes = 0;
    bool states = false;
    for (size_t i = 0; i < table->shape_count; i++)
        if (relation_shows(shown, SHAPES + i)) {
            states |= is_other_state(answer, table->shapes[i]);
            shapes++;
        }
    if (shapes < answer->column_count)
        snprintf(more, sizeof more, "; %zu more column%s of speeds: --all",
                 answer->column_count - shapes, plural(answer->column_count - shapes));
    if (shapes)
        clean_format(lines, FORM_LINE,
                     "%s: %% of the copy's speed at hidden %zu, data in %s, ± half the 95 %% "
                     "interval (!: over 5 %% of the speed%s)%s%.*s%s%s.\ncopy: the fastest of a "
                     "plain loop, non-temporal stores (nt) and rep movsb (rep).\n",
                     name, answer->columns[answer->key].key.hidden,
                     answer->columns[answer->key].regime,
                     answer->unsure ? "; ≈: another kernel may be faster" : "", *peer ? "; x " : "",
                     (int)strcspn(peer, " "), peer, *peer ? ": speed relative to it" : "", more);
    if (states)
        text_add(lines, "cold: data in no cache; in-place: y is written over x; 2t: 2 threads.\n");
    if (relation_shows(shown, place_of(table, GBPS)))
        clean_format(lines, FORM_LINE, "GB/s: at %s (!: uncertain by over 5 %%).\n", name);
    if (relation_shows(shown, place_of(table, ORDINARY)))
        text_add(lines, "ordinary: largest error on N(0,1), in row ULP; ");
    if (relation_shows(shown, place_of(table, WORST)))
        text_add(lines, "worst: the largest error on all but edge and adversarial rows, in row ULP "
                        "(ulps of |gamma| max|xhat| + |beta|); no digit: none is "
                        "correct; NaN: an element of the wrong kind; fault: crash, "
                        "hang or overrun.\n");
    if (relation_shows(shown, place_of(table, EDGE_CASES)))
        text_add(
            lines,
            "edge cases: rows that overflow, underflow or hold NaN or infinity; conventions "
            "without eps; type-limited: some correct kernels of these types lose digits there.\n");
    if (relation_shows(shown, place_of(table, DIGITS)))
        text_add(
            lines,
            "digits: cases that pass with a correct digit in every row, of all supported cases.\n");
    if (relation_shows(shown, place_of(table, REPRODUCIBLE)))
        text_add(lines, "reproducible, bit for bit: in any batch (row), on every ISA too (isa), in "
                        "the same call only (run).\n");
}

/* Adds a kernel's first fault; for a plugin, whose author can correct it, with its full text and the page to read. */
static void add_fault(const answer_row *row, const char *name, const stored_case *fault,
                      const char *again, text_buffer *out)
{
    const case_key *key = &fault->key;
    bool plugin = row->standing->role == ROLE_PLUGIN;
    char described[VERDICT_MAX_LENGTH];
    bool brief = strlen(verdict_why(&fault->verdict, described, sizeof described)) <= 32;
    clean_format(out, FORM_LINE, "✗ %s: %s on %s, %s; fails on %zu of %zu case%s\n", name,
                 brief ? described : verdict_reason(fault->verdict.kind), key->input,
                 key->convention, row->all->wrong, row->all->judged, plural(row->all->judged));
    if (plugin && !brief)
        clean_format(out, FORM_LINE, "  %s\n", fault->verdict.detail);
    clean_format(out, FORM_LINE, "  lnbench replay --case %lld%s\n", (long long)fault->id,
                 again ? again : "");
    if (plugin)
        text_add(out, "  What the words mean, and where to look: docs/conformance.md\n");
}

/* Adds a plugin that passes. The check mark means that it loses digits at most in edge cases. */
static void add_pass(const run_answer *answer, const answer_row *row, text_buffer *out)
{
    char number[ERROR_WORDS];
    const error_sum *all = row->all, *ordinary = &row->standing->errors[SCOPE_ORDINARY];
    const bool loses = row->standing->errors[SCOPE_NO_EDGE_CASES].limited > 0;
    clean_format(out, FORM_LINE, "%s %s: passes %zu of %zu case%s%s", loses ? "!" : "✓",
                 row->kernel, all->judged - all->limited, all->judged, plural(all->judged),
                 answer->view->run.state == RUN_COMPLETE ? "" : " judged so far");
    if (all->limited)
        text_format(out, "; %zu %s type-limited (kernels of %s may lose every digit there)",
                    all->limited, all->limited == 1 ? "is" : "are", dtype_name(answer->dtype));
    if (loses) {
        stored_table lost =
            store_ask(answer->view->store,
                      "SELECT group_concat(DISTINCT input) AS inputs FROM judged WHERE run = ?1 "
                      "AND kernel = ?2 AND type_limited AND NOT edge_case",
                      "is", answer->view->run.id, row->kernel);
        clean_format(out, FORM_LINE, ", not only in edge cases: %s",
                     table_text(&lost, 0, "inputs"));
        stored_table_free(&lost);
    }
    if (ordinary->judged)
        text_format(out, "; at most %s row ULP on ordinary rows",
                    answer_error_words(answer, ordinary, number));
    if (all->checked == 0)
        text_add(out, "; no conformance tests ran");
    else if (strcmp(answer->view->run.plan, "quick") == 0)
        text_add(out, "; the quick plan tested a third of the hidden sizes from 1 to 1100");
    text_add(out, "\n");
}

/* Adds the fault of each failing kernel, and a line for each plugin that passes. */
static void add_faults(const run_answer *answer, const result_look *look, text_buffer *out)
{
    size_t kernels = 0, more = 0;
    for (size_t i = 0; i < answer->count; i++) {
        const answer_row *row = &answer->rows[i];
        stored_case fault;
        bool fails = store_case(answer->view->store, row->standing->fault, &fault);
        bool peer = row->standing->role == ROLE_PEER, seen = !fails;
        for (size_t j = 0; !seen && peer && j < i; j++)
            seen = strcmp(answer->rows[j].label, row->label) == 0;
        if (!fails && row->standing->role == ROLE_PLUGIN && row->all->judged > 0)
            add_pass(answer, row, out);
        if (seen)
            continue;
        if (kernels == MOST_KERNELS && !look->all)
            more++;
        else
            add_fault(row, peer ? row->label : row->kernel, &fault, look->again, out);
        kernels += kernels < MOST_KERNELS;
    }
    if (more > 0)
        clean_format(out, FORM_LINE, "✗ and %zu kernels more: --all\n", more);
}

/* Adds a line for each kernel that slows others down, and for each reason why kernels did not run at all. */
static void add_obstacles(const run_answer *answer, text_buffer *out)
{
    const run_view *view = answer->view;
    stored_table lines = store_ask(
        view->store,
        "SELECT line FROM (SELECT 0 AS part, min(cases.id) AS place, '! ' || kernel || ': ' || "
        "detail AS line FROM cells JOIN cases ON cell = cells.id JOIN judgements ON case_id = "
        "cases.id WHERE run = ?1 AND operation = ?2 AND types = ?3 AND detail GLOB '" SPEED_TRAP
        "*' GROUP BY kernel UNION ALL "
        "SELECT 1, min(name), format('%d kernel%s cannot run here: %s', count(*), "
        "iif(count(*) = 1, '', 's'), descriptor ->> '$.unsupported_because') FROM kernels "
        "WHERE run = ?1 AND descriptor ->> '$.unsupported_because' <> '' AND EXISTS (SELECT 1 FROM "
        "cells WHERE cells.run = ?1 AND kernel = name AND operation = ?2 AND types = ?3) "
        "GROUP BY descriptor ->> '$.unsupported_because') ORDER BY part, place",
        "iss", view->run.id, operation_name(view_operation(view)), dtype_name(answer->dtype));
    for (size_t i = 0; i < lines.rows; i++)
        clean_format(out, FORM_LINE, "%s\n", table_text(&lines, i, "line"));
    stored_table_free(&lines);
}

void result_noise(const run_answer *answer, text_buffer *out)
{
    stored_table found = store_ask(
        answer->view->store,
        "SELECT count(*) AS speeds, count(*) FILTER (WHERE half > ?4) AS wide, 100 * max(half) AS "
        "widest FROM (SELECT max(coalesce((copy_ratio_hi - copy_ratio_lo) / copy_ratio, 0), "
        "(time_hi_ns - time_lo_ns) / time_ns) / 2 AS half FROM timed "
        "WHERE run = ?1 AND operation = ?2 AND types = ?3 AND NOT is_copy)",
        "issd", answer->view->run.id, operation_name(view_operation(answer->view)),
        dtype_name(answer->dtype), SPEED_NOISY);
    if (table_whole(&found, 0, "wide") > 0)
        text_format(out,
                    "! Noisy: %lld of %lld times or %% of copy vary by %.0f to %.0f %%; try "
                    "lnbench doctor, or more --processes.\n",
                    (long long)table_whole(&found, 0, "wide"),
                    (long long)table_whole(&found, 0, "speeds"), 100 * SPEED_NOISY,
                    table_real(&found, 0, "widest"));
    stored_table_free(&found);
}

/* Prints the table of one operation, the answer in sentences, and the failures. */
static void print_text(const run_view *view, const output_file *out, const result_look *look)
{
    run_answer answer;
    short_table table;
    text_buffer legend = {0}, words = {0}, notes = {0};
    answer_make(view, &answer);
    choose_table(&table, &answer, look);
    relation *made = make_relation(&table);
    output_file wide = *out;
    if (look->all)
        wide.width = 0;
    else if (out->format == OUTPUT_TEXT)
        relation_fit(made, out->width ? out->width : 100);
    add_legend(&table, made, &legend);
    print_head(view, &answer, out);
    print_coverage(view, answer.dtype, out);
    output_line(out, "%s", "");
    relation_print(made, &wide);
    output_wrapped(out, legend.bytes ? legend.bytes : "");
    output_line(out, "%s", "");
    answer_sentences(&answer, &words);
    output_wrapped(out, words.bytes ? words.bytes : "");
    add_faults(&answer, look, &notes);
    add_obstacles(&answer, &notes);
    result_noise(&answer, &notes);
    if (notes.length > 0)
        output_line(out, "%s", "");
    output_wrapped(out, notes.bytes ? notes.bytes : "");
    text_free(&legend);
    text_free(&words);
    text_free(&notes);
    free(table.rows);
    answer_free(&answer);
}

/* Prints one table for each operation, since kernels are ranked within an operation only. */
void result_table_print(const run_view *view, const output_file *out, const result_look *look)
{
    text_buffer lines = {0};
    if (out->format == OUTPUT_JSON) {
        output_json(out, view_run_json(view));
        return;
    }
    if (output_is_data(out)) {
        export_cases(view->store, view->run.id, out->format, &lines);
        fputs(lines.bytes, out->file);
        text_free(&lines);
        return;
    }
    for (run_view part = {0}; view_next_part(view, &part);) {
        if (part.others && part.standings.standings == view->standings.standings) {
            view_add_coverage(view, &lines);
            output_wrapped(out, lines.bytes ? lines.bytes : "");
            text_free(&lines);
        }
        if (part.others)
            output_line(out, "%s", "");
        print_text(&part, out, look);
    }
}
