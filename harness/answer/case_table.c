/* A stored run as a tidy table of cases, for anybody's data frame. */
#include "answer/run_view.h"
#include "base/allocate.h"
#include "store/records.h"
#include <math.h>
#include <stdlib.h>

/* What stands before the metrics and the speeds. */
static const relation_column key_columns[] = {
    FOR_PEOPLE("operation"),
    FOR_PEOPLE("kernel"),
    FOR_PEOPLE("convention"),
    FOR_PEOPLE("input"),
    FOR_PEOPLE("rows"),
    FOR_PEOPLE("hidden"),
    FOR_PEOPLE("dtype"),
    FOR_PEOPLE("cache"),
    FOR_PEOPLE("threads"),
    FOR_PEOPLE("regime"),
    FOR_PEOPLE("verdict"),
    FOR_PEOPLE("reason"),
    FOR_PEOPLE("has_correct_digits"),
    FOR_PEOPLE("detail"),
    FOR_PEOPLE("bound_row_ulp"),
};
static const relation_column last_columns[] = {FOR_PEOPLE("repetitions"), FOR_PEOPLE("processes"),
                                               FOR_PEOPLE("reproducibility"), FOR_PEOPLE("case")};
enum {
    KEYS = sizeof key_columns / sizeof *key_columns,
    LAST = sizeof last_columns / sizeof *last_columns
};

static relation *make_table(void)
{
    relation_column *columns =
        allocate_zeroed(KEYS + metric_count_all + SPEED_RATIOS + LAST, sizeof *columns);
    size_t count = 0;
    for (size_t i = 0; i < KEYS; i++)
        columns[count++] = key_columns[i];
    for (size_t i = 0; i < metric_count_all; i++)
        columns[count++].heading = metric_list[i].name;
    for (size_t i = 0; i < SPEED_RATIOS; i++)
        columns[count++].heading = speed_fields[i].key;
    for (size_t i = 0; i < LAST; i++)
        columns[count++] = last_columns[i];
    relation *made = relation_create(columns, count);
    free(columns);
    return made;
}

static void add_case(relation *rows, const view_case *view)
{
    const stored_case *stored = view->stored;
    const case_key *key = &stored->key;
    const char *word = verdict_word(stored->verdict.kind);
    usability usable = stored_usable(stored);
    relation_row(rows, as_text(operation_name(key->operation)), as_text(key->kernel),
                 as_text(key->convention), as_text(key->input), as_count(key->rows),
                 as_count(key->hidden), as_text(dtype_name(key->dtype)),
                 as_text(cache_name(key->cache)), as_count(key->threads), as_text(view->regime),
                 as_text(word ? word : ""), as_text(verdict_reason(stored->verdict.kind)),
                 as_digits(usable == USABLE_UNKNOWN ? (double)NAN : usable == USABLE_YES),
                 as_text(stored->verdict.detail), as_digits(stored->bound_row_ulp));
    for (size_t i = 0; i < metric_count_all; i++)
        relation_add(rows, metric_list[i].kind == METRIC_REAL
                               ? as_digits(metric_value(&stored->metrics, &metric_list[i]))
                               : as_count(metric_count(&stored->metrics, &metric_list[i])));
    for (size_t i = 0; i < SPEED_RATIOS; i++)
        relation_add(rows, as_digits(record_real(&speed_fields[i], &view->speed)));
    relation_row(rows, as_count(view->speed.repetitions), as_count(view->speed.processes),
                 as_text(view->reproducibility), as_count((uint64_t)stored->id));
}

/* Part by part: all cells of a large run at once would take several times the memory of the run. */
void view_add_case_table(const run_view *view, output_format form, text_buffer *out)
{
    enum { PART = 1024 };
    size_t i = 0;
    do {
        relation *rows = make_table();
        if (i > 0)
            relation_go_on(rows);
        for (size_t end = i + PART; i < end && i < view->cases.count; i++)
            add_case(rows, &view->views[i]);
        relation_add_form(rows, form, 0, out);
        relation_destroy(rows);
    } while (i < view->cases.count);
}
