#include "show/result_table.h"
#include "base/clean.h"
#include "base/allocate.h"
#include "base/text.h"
#include "domain/kernel_json.h"
#include "store/export.h"
#include "store/store.h"
#include <math.h>
#include <stdlib.h>
#include <string.h>

enum { MOST_FIELDS = ANSWER_COLUMNS + 10, MOST_KERNELS = 6 };

exit_code result_exit_code(const run_view *view)
{
    exit_code code = EXIT_CODE_FINE;
    for (int kind = 0; kind < OPERATIONS; kind++) {
        run_answer answer;
        if (!(view_operations(view) & OPERATION_BIT(kind)))
            continue;
        run_view part = view_part(view, (ln_operation)kind);
        answer_make(&part, &answer);
        code = answer_is_noisy(&answer) ? EXIT_CODE_INCONCLUSIVE : code;
        answer_free(&answer);
        view_part_free(&part);
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

result_order result_order_from_name(const char *name)
{
    static const char *const names[] = {"speed", "error", "name"};
    size_t found = word_find(name, WORDS(names));
    if (found > ORDER_NAME)
        die(EXIT_CODE_USAGE, "invalid --sort '%.60s' (choose speed, error or name)", name);
    return (result_order)found;
}

/* ---- which columns ---- */

typedef enum field_kind {
    FIELD_ROLE,
    FIELD_KERNEL,
    FIELD_GBPS,
    FIELD_SHAPE,
    FIELD_SPEEDUP,
    FIELD_CHANGE,
    FIELD_ORDINARY,
    FIELD_WORST,
    FIELD_EXTREME,
    FIELD_USABLE,
    FIELD_REPRODUCIBLE,
} field_kind;

typedef struct result_field {
    field_kind kind;
    char heading[64];
    size_t column; /* of FIELD_SHAPE */
    int priority;  /* that of its column */
} result_field;

typedef struct result_fields {
    result_field fields[MOST_FIELDS];
    size_t count;
} result_fields;

static void add_field(result_fields *all, field_kind kind, const char *heading, size_t column,
                      int priority)
{
    result_field *own = &all->fields[all->count++];
    *own = (result_field){.kind = kind, .column = column, .priority = priority};
    snprintf(own->heading, sizeof own->heading, "%s", heading);
}

/* The key shape stays longest; then one of each other regime, then the smallest and the largest
 * hidden size of the key's. */
static int shape_priority(const run_answer *answer, size_t column)
{
    const answer_column *own = &answer->columns[column], *key = &answer->columns[answer->key];
    bool last = column + 1 == answer->column_count ||
                strcmp(answer->columns[column + 1].regime, own->regime) != 0;
    bool first = column == 0 || strcmp(answer->columns[column - 1].regime, own->regime) != 0;
    if (column == answer->key)
        return 1;
    if (strcmp(own->regime, key->regime) != 0)
        return last ? 8 : 30;
    return last ? 9 : first ? 10 : 31;
}

/* The columns: which kernel, its speed at each shape, its errors. What was not measured has no column. */
static void choose_fields(const run_answer *answer, const result_look *look, result_fields *all)
{
    char heading[64], name[64];
    bool timed = answer->column_count > 0;
    all->count = 0;
    add_field(all, FIELD_ROLE, "", 0, 5);
    add_field(all, FIELD_KERNEL, "kernel", 0, 0);
    for (size_t i = 0; i < answer->column_count; i++)
        if (look->all || shape_priority(answer, i) < 30)
            add_field(all, FIELD_SHAPE, answer_column_name(answer, i, name), i,
                      shape_priority(answer, i));
    if (timed)
        add_field(all, FIELD_GBPS, "GB/s", answer->key, 12);
    if (answer->peer) {
        snprintf(heading, sizeof heading, "x %.20s", answer->peer->label);
        heading[2 + strcspn(heading + 2, " ")] = '\0';
        add_field(all, FIELD_SPEEDUP, heading, 0, 4);
    }
    if (timed && look->baseline)
        add_field(all, FIELD_CHANGE, "change", answer->key, 2);
    if (answer->cases > 0) {
        add_field(all, FIELD_ORDINARY, "ordinary", 0, 6);
        add_field(all, FIELD_WORST, "worst", 0, 3);
        add_field(all, FIELD_EXTREME, "edge cases", 0, 7);
        add_field(all, FIELD_USABLE, "digits", 0, 6);
        add_field(all, FIELD_REPRODUCIBLE, "reproducible", 0, 13);
    }
}

/* ---- cells ---- */

/* By how much the time over the roof's changed; "=" where the intervals meet. */
static relation_value as_change(const answer_row *row, size_t column, const result_look *look)
{
    const view_case *own = row->cells[column];
    if (!own)
        return as_text(NULL);
    const case_key *key = &own->stored->key;
    stored_table base = store_ask(
        look->baseline,
        "SELECT copy_ratio, copy_ratio_lo, copy_ratio_hi FROM timed WHERE run = ?1 AND kernel = ?2 "
        "AND rows = ?3 AND hidden = ?4 AND cache = ?5 AND threads = ?6 AND convention = ?7",
        "isiisis", look->baseline_run, key->kernel, (int64_t)key->rows, (int64_t)key->hidden,
        cache_name(key->cache), (int64_t)key->threads, key->convention);
    const double ratio = table_real(&base, 0, "copy_ratio"),
                 lo = table_real(&base, 0, "copy_ratio_lo"),
                 hi = table_real(&base, 0, "copy_ratio_hi");
    const bool known = base.rows > 0;
    stored_table_free(&base);
    if (!known)
        return as_text(NULL);
    if (own->speed.copy_ratio_lo <= hi && lo <= own->speed.copy_ratio_hi)
        return as_text("=");
    return as_format("%+.0f %%", 100 * (own->speed.copy_ratio / ratio - 1));
}

static relation_value as_cell(const run_answer *answer, const answer_row *row,
                              const result_field *own, const result_look *look)
{
    char number[ERROR_WORDS];
    const view_case *cell = answer->column_count ? row->cells[own->column] : NULL;
    const speed_figures *speed = cell ? &cell->speed : NULL;
    const error_sum *errors = row->standing->errors, *edge = &errors[SCOPE_EXTREME];
    switch (own->kind) {
    case FIELD_ROLE:
        return as_text(answer_role_word(answer, row));
    case FIELD_KERNEL:
        return as_text(row->label);
    case FIELD_GBPS:
        return as_figure(cell ? cell->speed.gbps : NAN);
    case FIELD_SHAPE:
        if (!speed || isnan(speed->copy_ratio))
            return as_text(NULL);
        return as_format("%.0f ±%.0f%s", 100 * speed->copy_ratio,
                         fmax(1, 50 * (speed->copy_ratio_hi - speed->copy_ratio_lo)),
                         answer_spread(speed) > SPEED_NOISY ? "!" : "");
    case FIELD_SPEEDUP:
        return as_text(answer_times(row->speedup, number));
    case FIELD_CHANGE:
        return as_change(row, own->column, look);
    case FIELD_ORDINARY:
        return as_text(
            view_error_words(answer->view, &errors[SCOPE_ORDINARY], answer->dtype, number));
    case FIELD_WORST:
        return as_text(view_error_words(answer->view, &errors[SCOPE_ANY], answer->dtype, number));
    case FIELD_EXTREME:
        return edge->wrong     ? as_format("%zu fail", edge->wrong)
               : edge->limited ? as_format("%zu type-limited", edge->limited)
                               : as_text(edge->judged ? "pass" : NULL);
    case FIELD_USABLE:
        if (row->all->usable < row->all->judged)
            return as_format("%zu/%zu", row->all->usable, row->all->judged);
        return as_text(row->all->judged ? "all" : NULL);
    case FIELD_REPRODUCIBLE:
        break;
    }
    return as_text(row->reproducible);
}

/* The last row is the copy: what it reaches at each shape is 100 %. */
static relation *make_relation(const run_answer *answer, const answer_row *const *rows,
                               size_t count, const result_fields *fields, const result_look *look)
{
    relation_column columns[MOST_FIELDS];
    char number[16];
    for (size_t i = 0; i < fields->count; i++)
        columns[i] = (relation_column){.heading = fields->fields[i].heading,
                                       .priority = fields->fields[i].priority};
    relation *made = relation_create(columns, fields->count);
    for (size_t row = 0; row < count; row++)
        for (size_t i = 0; i < fields->count; i++)
            relation_add(made, as_cell(answer, rows[row], &fields->fields[i], look));
    for (size_t i = 0; answer->column_count > 0 && i < fields->count; i++) {
        const answer_column *column = &answer->columns[fields->fields[i].column];
        const field_kind kind = fields->fields[i].kind;
        relation_add(
            made, kind == FIELD_SHAPE  ? as_format("%s%s", number_short(column->copy.gbps, number),
                                                   roof_mark(column->key.kernel))
                  : kind == FIELD_GBPS ? as_figure(column->copy.gbps)
                                       : as_text(kind == FIELD_KERNEL ? "copy, GB/s" : ""));
    }
    return made;
}

/* ---- which rows ---- */

/* The most accurate first; of equals those with fewer failures on edge cases. */
static int by_error(const void *a, const void *b)
{
    const error_sum *left = (*(const answer_row *const *)a)->standing->errors;
    const error_sum *right = (*(const answer_row *const *)b)->standing->errors;
    double own = left[SCOPE_ANY].error, other = right[SCOPE_ANY].error;
    if (isnan(own) || isnan(other))
        return isnan(own) - isnan(other);
    if (own < other || own > other)
        return own < other ? -1 : 1;
    size_t left_wrong = left[SCOPE_EXTREME].wrong + left[SCOPE_EXTREME].limited;
    size_t right_wrong = right[SCOPE_EXTREME].wrong + right[SCOPE_EXTREME].limited;
    return (left_wrong > right_wrong) - (left_wrong < right_wrong);
}

static int by_name(const void *a, const void *b)
{
    return strcmp((*(const answer_row *const *)a)->label, (*(const answer_row *const *)b)->label);
}

/* Fills the rows that are shown, in the order that was asked for, and returns how many there are. */
static size_t choose_rows(const run_answer *answer, const result_look *look,
                          const answer_row **rows)
{
    size_t count = 0;
    for (size_t i = 0; i < answer->count; i++) {
        const answer_row *row = &answer->rows[i];
        bool measured = row->all->judged > 0 || row->at_key;
        if (measured && (look->all || look->top || row->shown || answer->count <= ANSWER_ROWS))
            rows[count++] = row;
    }
    if (look->order != ORDER_SPEED)
        qsort(rows, count, sizeof *rows, look->order == ORDER_ERROR ? by_error : by_name);
    return look->top && look->top < count && !look->all ? look->top : count;
}

/* ---- the words around the table ---- */

/* What was computed, how and where: what the figures below depend on. */
static void print_head(const run_view *view, const run_answer *answer, const output_file *out)
{
    const char *vm = machine_fact_value(&view->machine, "hypervisor");
    text_buffer line = {0};
    clean_format(&line, FORM_LINE, "%s %s", view_title(view), dtype_name(answer->dtype));
    if (answer->column_count > 0) {
        const case_key *key = &answer->columns[answer->key].key;
        clean_format(&line, FORM_LINE, ", %s, %s, %u thread%s", key->convention,
                     cache_phrase(key->cache), key->threads, key->threads == 1 ? "" : "s");
        if (strcmp(key->input, "normal") != 0)
            clean_format(&line, FORM_LINE, ", timed on %s", key->input);
    }
    if (answer->isa[0])
        clean_format(&line, FORM_LINE, ", %s unless named", answer->isa);
    output_line(out, "%s", line.bytes ? line.bytes : "");
    output_line(out, "%zu kernel%s, %zu shape%s timed, %zu case%s judged; %s, %s cores%s",
                answer->count, answer->count == 1 ? "" : "s", answer->column_count,
                answer->column_count == 1 ? "" : "s", answer->cases, answer->cases == 1 ? "" : "s",
                machine_fact_value(&view->machine, "cpu_model"),
                machine_fact_value(&view->machine, "cores"),
                strcmp(vm, "none") == 0 || strcmp(vm, "unknown") == 0 ? "" : " of a VM");
    text_free(&line);
}

/* What the table rests on. It has one type, while the counts have all. */
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

/* What the columns that are shown mean. */
static void add_legend(const run_answer *answer, const result_fields *fields, const relation *shown,
                       text_buffer *lines)
{
    char name[64];
    bool has[FIELD_REPRODUCIBLE + 1] = {false};
    for (size_t i = 0; i < fields->count; i++)
        has[fields->fields[i].kind] |= relation_shows(shown, i);
    if (answer->column_count > 0)
        answer_column_name(answer, answer->key, name);
    if (has[FIELD_SHAPE])
        clean_format(
            lines, FORM_LINE,
            "%s: hidden %zu, data in %s; %% of a copy's speed ± 95 %% interval%s%s.\n", name,
            answer->columns[answer->key].key.hidden, answer->columns[answer->key].regime,
            has[FIELD_SPEEDUP] ? "; x: times as fast at " : "", has[FIELD_SPEEDUP] ? name : "");
    if (has[FIELD_SHAPE])
        clean_format(lines, FORM_LINE,
                     "copy: the fastest of a plain loop, non-temporal stores (nt) and rep "
                     "movsb (rep).\n");
    if (has[FIELD_GBPS])
        clean_format(lines, FORM_LINE, "GB/s: at %s.\n", name);
    if (has[FIELD_WORST])
        clean_format(lines, FORM_LINE,
                     "ordinary, worst: largest error on rows of N(0,1) and on all rows but edge "
                     "cases, in row ULP (units in the last place of the row's largest number; NaN: "
                     "NaN or infinity in place of a number, or the reverse).\n");
    if (has[FIELD_EXTREME])
        text_add(lines, "edge cases: rows that overflow or underflow, and conventions without eps; "
                        "type-limited: kernels of these types may lose every digit there.\n");
    if (has[FIELD_USABLE])
        text_add(lines,
                 "digits: cases with a correct digit in every row, of the cases judged, which "
                 "are fewer where a kernel does not support some.\n");
    if (has[FIELD_REPRODUCIBLE])
        text_add(lines, "reproducible, bit for bit: in any batch (row), on every ISA too (isa), in "
                        "the same call only (run).\n");
}

/* The author of a plugin has to act on it: what is wrong in full, and what the words mean. */
static void add_fault(const answer_row *row, const char *name, const stored_case *fault,
                      const char *again, text_buffer *out)
{
    const case_key *key = &fault->key;
    bool plugin = row->standing->role == ROLE_PLUGIN;
    char described[VERDICT_MAX_LENGTH];
    bool brief = strlen(verdict_why(&fault->verdict, described, sizeof described)) <= 32;
    clean_format(out, FORM_LINE, "✗ %s: %s on %s, %s; fails on %zu of %zu case%s\n", name,
                 brief ? described : verdict_reason(fault->verdict.kind), key->input,
                 key->convention, row->all->wrong, row->all->judged,
                 row->all->judged == 1 ? "" : "s");
    if (plugin && !brief)
        clean_format(out, FORM_LINE, "  %s\n", fault->verdict.detail);
    clean_format(out, FORM_LINE, "  lnbench replay --case %lld%s\n", (long long)fault->id,
                 again ? again : "");
    if (plugin)
        text_add(out, "  What the words mean, and where to look: docs/conformance.md\n");
}

/* A plugin that passes is told so. */
static void add_pass(const run_answer *answer, const answer_row *row, text_buffer *out)
{
    char number[ERROR_WORDS];
    const error_sum *all = row->all, *ordinary = &row->standing->errors[SCOPE_ORDINARY];
    clean_format(out, FORM_LINE, "✓ %s: passes on %zu of %zu case%s", row->kernel,
                 all->judged - all->limited, all->judged, all->judged == 1 ? "" : "s");
    if (all->limited)
        text_format(out, ", type-limited (%s) on %zu", dtype_name(answer->dtype), all->limited);
    if (all->usable < all->judged)
        text_format(out, "; no right digit, or NaN, in rows of %zu", all->judged - all->usable);
    if (row->standing->lost_from >= 10)
        text_format(out, ", some with |mean| from %.1g std on", row->standing->lost_from);
    if (ordinary->judged)
        text_format(out, "; at most %s row ULP on ordinary rows",
                    view_error_words(answer->view, ordinary, answer->dtype, number));
    if (all->checked == 0) {
        stored_table most =
            store_ask(answer->view->store,
                      "SELECT max(rows) AS most FROM judged WHERE run = ?1 AND kernel = ?2", "is",
                      answer->view->run.id, row->standing->kernel);
        text_format(out, "; judged on up to %lld rows of a shape alone",
                    (long long)table_whole(&most, 0, "most"));
        stored_table_free(&most);
    } else if (strcmp(answer->plan, "quick") == 0) {
        text_add(out, "; hidden sizes tested: a third of 1 to 1100");
    }
    text_add(out, "\n");
}

/* What became of each kernel that failed, and of each plugin. */
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

/* A line for each kernel that slows others down. */
static void add_traps(const run_view *view, const run_answer *answer, text_buffer *out)
{
    stored_table traps = store_ask(
        view->store,
        "SELECT kernel, detail FROM cells JOIN cases ON cell = cells.id JOIN judgements ON case_id "
        "= cases.id WHERE run = ?1 AND operation = ?2 AND types = ?3 AND detail GLOB '" SPEED_TRAP
        "*' GROUP BY kernel ORDER BY min(cases.id)",
        "iss", view->run.id, operation_name(view_operation(view)), dtype_name(answer->dtype));
    for (size_t i = 0; i < traps.rows; i++)
        clean_format(out, FORM_LINE, "! %s: %s\n", table_text(&traps, i, "kernel"),
                     table_text(&traps, i, "detail"));
    stored_table_free(&traps);
}

/* A line for each reason for which kernels did not run at all. */
static void add_left_out(const run_view *view, const run_answer *answer, text_buffer *out)
{
    for (size_t i = 0; i < answer->count; i++) {
        const answer_row *row = &answer->rows[i];
        const char *why = descriptor_word(view->kernels, row->kernel, "unsupported_because");
        size_t alike = 0;
        bool seen = !why[0];
        for (size_t j = 0; !seen && j < answer->count; j++) {
            const char *other =
                descriptor_word(view->kernels, answer->rows[j].kernel, "unsupported_because");
            seen = j < i && strcmp(why, other) == 0;
            alike += strcmp(why, other) == 0;
        }
        if (!seen)
            clean_format(out, FORM_LINE, "%zu kernel%s cannot run here: %s\n", alike,
                         alike == 1 ? "" : "s", why);
    }
}

/* Of the speeds of a table as wide as it takes. Where it is too noisy to say who is fastest, narrow
 * intervals are no comfort. */
static void add_noise(const run_answer *answer, const answer_row *const *rows, size_t count,
                      const result_fields *fields, text_buffer *out)
{
    size_t speeds = 0, wide = 0;
    double widest = 0; /* half an interval, as a share of the speed */
    for (size_t i = 0; i < count; i++)
        for (size_t j = 0; j < fields->count; j++) {
            const view_case *cell = rows[i]->cells[fields->fields[j].column];
            if (fields->fields[j].kind != FIELD_SHAPE || !cell || isnan(cell->speed.copy_ratio))
                continue;
            speeds++;
            wide += answer_spread(&cell->speed) > SPEED_NOISY;
            widest = fmax(widest, answer_spread(&cell->speed));
        }
    if (wide > 0)
        text_format(
            out,
            "! Noisy: %zu of %zu speeds are uncertain by more than %.0f %%; add --processes "
            "5, or ask lnbench doctor why.\n",
            wide, speeds, 100 * SPEED_NOISY);
    else if (speeds > 0 && answer->untold_count[OF_ALL] <= 1)
        text_format(out, "Quiet: every speed above is known within ±%.1f %%.\n", 100 * widest);
}

void result_noise(const run_answer *answer, text_buffer *out)
{
    const result_look look = {0};
    result_fields fields;
    const answer_row **rows = allocate_zeroed(answer->count + 1, sizeof *rows);
    size_t count = choose_rows(answer, &look, rows);
    choose_fields(answer, &look, &fields);
    add_noise(answer, rows, count, &fields, out);
    free(rows);
}

/* The table of one operation, the answer in sentences, and what went wrong. */
static void print_text(const run_view *view, const output_file *out, const result_look *look)
{
    size_t room = out->width ? out->width : 100;
    run_answer answer;
    result_fields fields;
    text_buffer legend = {0}, words = {0}, notes = {0}, noise = {0};
    answer_make(view, &answer);
    const answer_row **rows = allocate_zeroed(answer.count + 1, sizeof *rows);
    size_t count = choose_rows(&answer, look, rows);
    choose_fields(&answer, look, &fields);
    add_noise(&answer, rows, count, &fields, &noise); /* however narrow the terminal is */
    relation *table = make_relation(&answer, rows, count, &fields, look);
    if (out->format == OUTPUT_TEXT)
        relation_fit(table, room);
    add_legend(&answer, &fields, table, &legend);
    print_head(view, &answer, out);
    print_coverage(view, answer.dtype, out);
    output_line(out, "%s", "");
    relation_print(table, out);
    output_wrapped(out, legend.bytes ? legend.bytes : "");
    text_free(&legend);
    output_line(out, "%s", "");
    answer_sentences(&answer, &words);
    output_wrapped(out, words.bytes ? words.bytes : "");
    add_faults(&answer, look, &notes);
    add_traps(view, &answer, &notes);
    add_left_out(view, &answer, &notes);
    text_add(&notes, noise.bytes ? noise.bytes : "");
    if (notes.length > 0)
        output_line(out, "%s", "");
    output_wrapped(out, notes.bytes ? notes.bytes : "");
    text_free(&words);
    text_free(&notes);
    text_free(&noise);
    free(rows);
    answer_free(&answer);
}

/* A table an operation: kernels of two are not ranked together. */
static void print_parts(const run_view *view, const output_file *out, const result_look *look)
{
    const unsigned kinds = view_operations(view);
    const bool several = (kinds & (kinds - 1)) != 0;
    text_buffer line = {0};
    view_add_coverage(view, &line);
    if (several && line.length > 0)
        output_wrapped(out, line.bytes);
    text_free(&line);
    for (int kind = 0; kind < OPERATIONS; kind++) {
        if (!(kinds & OPERATION_BIT(kind)))
            continue;
        run_view part = view_part(view, (ln_operation)kind);
        if (several)
            output_line(out, "%s", "");
        print_text(&part, out, look);
        view_part_free(&part);
    }
}

void result_table_print(const run_view *view, const output_file *out, const result_look *look)
{
    text_buffer lines = {0};
    if (out->format == OUTPUT_JSON) {
        output_json(out, view_run_json(view));
    } else if (!output_is_data(out)) {
        print_parts(view, out, look);
    } else {
        export_cases(view->store, view->run.id, out->format, &lines);
        fputs(lines.bytes, out->file);
        text_free(&lines);
    }
}
