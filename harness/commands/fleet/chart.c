/* The chart of winners: a row a shape, a column a machine, in each cell the kernel and its GB/s. */
#include "commands/fleet/machines.h"
#include "base/paths.h"
#include "base/text.h"
#include "report/charts/chart.h"
#include <math.h>
#include <string.h>

enum { MOST_ROWS = 12 };

/* How many shapes there are. */
static size_t fill(const fleet_list *fleet, text_buffer *table, text_buffer *settings)
{
    size_t rows = 0;
    char key[32], name[FLEET_NAME];
    char footer[400];
    const fleet_machine *first = &fleet->machines[0];
    tsv_row(table, "wwwwww", "row", "column", "shape", "kernel", "gbps", "same");
    for (size_t c = 0; c < first->answer.column_count && rows < MOST_ROWS; c++) {
        const case_key *shape = &first->answer.columns[c].key;
        const view_case *of_first = fleet_winner(first, c, true);
        char words[96];
        if (!of_first)
            continue;
        rows++;
        snprintf(words, sizeof words, "%zux%zu", shape->rows, shape->hidden);
        for (size_t m = 0; m < fleet->count; m++) {
            const fleet_machine *machine = &fleet->machines[m];
            const view_case *winner = fleet_winner(machine, fleet_column(machine, shape), true);
            bool same =
                winner && strcmp(winner->stored->key.kernel, of_first->stored->key.kernel) == 0;
            tsv_row(table, "zzssnn", rows, m + 1, words,
                    winner ? winner->stored->key.kernel : "not timed",
                    winner ? winner->speed.gbps : NAN,
                    m == 0 || same ? 1.0
                    : winner       ? 2.0
                                   : 3.0);
        }
    }
    tsv_footer_here("the times of a machine are of its own run | drawn on ", footer);
    tsv_settings_begin(
        settings, "Which kernel wins on which machine?",
        "the fastest kernel that is never more than 2 row ULP off, and its GB/s; dark: "
        "the same as on the first machine",
        footer);
    tsv_row(settings, "wnw", "rows", (double)rows, "-");
    tsv_row(settings, "wnw", "columns", (double)fleet->count, "-");
    for (size_t m = 0; m < fleet->count; m++) {
        snprintf(key, sizeof key, "name_%zu", m + 1);
        tsv_row(settings, "wns", key, 0.0, fleet_machine_name(&fleet->machines[m], name));
    }
    return rows;
}

bool fleet_chart(const fleet_list *fleet, const char *directory, const output_file *out, error *err)
{
    static const char *stem = "machines";
    text_buffer table = {0}, settings = {0};
    file_draft draft;
    bool fine = draft_begin(&draft, directory, err);
    bool any = fill(fleet, &table, &settings) > 0; /* else nothing was timed, or nothing is right */
    const word_list stems = {&stem, any};
    /* Both are freed, saved or not. */
    fine = tsv_save(&table, draft.folder.path, stem, ".tsv", fine ? err : NULL) && fine;
    fine = tsv_save(&settings, draft.folder.path, stem, "_settings.tsv", fine ? err : NULL) && fine;
    fine = fine && charts_draw_alone(&draft, &stems, "machines.gp", out, err);
    draft_end(&draft);
    return fine;
}
