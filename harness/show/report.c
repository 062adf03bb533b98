#include "show/report.h"
#include "base/files.h"
#include "store/run_file.h"
#include "domain/machine.h"
#include "show/page/page.h"
#include <math.h>
#include <stdlib.h>
#include <string.h>

enum { CHARTS_MOST = 40 };

/* What the page shows, and the charts of all types. */
typedef struct report_state {
    report_data data;
    report_chart charts[CHARTS_MOST];
    size_t chart_count;
} report_state;

static int64_t case_of(const answer_row *row)
{
    return row && row->at_key ? row->at_key->stored->id : 0;
}

static bool has_type(const run_view *view, ln_type type)
{
    for (size_t i = 0; i < view->standings.count; i++)
        if (view->standings.standings[i].dtype == type)
            return true;
    return false;
}

/* Those that nobody can tell apart in speed, of all (kind 1) and of those that can be recommended (2). */
static void put_untold(const report_data *data, const run_answer *answer)
{
    store_put_table(data->view->store, "untold", "case_id, kind");
    for (int of = OF_ALL; of <= OF_CALLABLE; of++)
        for (size_t i = 0; answer->untold_count[of] > 1 && i < answer->untold_count[of]; i++)
            store_put_line(data->view->store, "untold", "ii", case_of(answer->untold[of][i]),
                           (int64_t)(1 + of));
}

/* What the queries read of the answer, which says nothing of another type than its own. */
static void put_asked(const report_data *data, const char *other)
{
    static const run_answer none = {.isa = ""};
    const run_answer *answer = other[0] ? &none : &data->answer;
    const answer_row *fastest = answer->untold_count[OF_ALL] ? answer->untold[OF_ALL][0] : NULL;
    const case_key *key = answer->column_count ? &answer->columns[answer->key].key : NULL;
    const char *types = !other[0] && has_type(data->view, data->answer.dtype)
                            ? dtype_name(data->answer.dtype)
                            : other;
    put_untold(data, answer);
    store_put_table(
        data->view->store, "asked",
        "run, operation, types, page, rows, hidden, isa, fastest, recommended, proven, noisy");
    store_put_line(data->view->store, "asked", "isniiisiiii", data->view->run.id,
                   operation_name(view_operation(data->view)), types, (int64_t)!other[0],
                   (int64_t)(key ? key->rows : 0), (int64_t)(key ? key->hidden : 0), answer->isa,
                   case_of(fastest), case_of(answer->recommended), case_of(answer->proven),
                   (int64_t)answer_is_noisy(answer));
}

static void put_standings(const run_view *view)
{
    store_put_table(
        view->store, "standing",
        "kernel, types, role, other_param, recommendable, judged, error, worst_case, edge_case");
    for (ln_type type = LN_F32; type <= LN_F16; type++) {
        const recommend_wanted wanted = {
            .run = view->run.id,
            .at = {.operation = view_operation(view), .dtype = type},
            .budget = STANDING_ROW_ULP,
            .kappa = NAN,
        };
        if (!has_type(view, type))
            continue;
        kernel_ranking ranking = store_recommend(view->store, &wanted);
        for (size_t i = 0; i < view->standings.count; i++) {
            const kernel_standing *own = &view->standings.standings[i];
            const ranked_kernel *ranked = ranked_of(&ranking, own->kernel);
            const error_sum *any = &own->errors[SCOPE_ANY];
            if (own->dtype != type || !ranked)
                continue;
            bool recommendable = ranked->callable && ranked->within && !ranked->doubt[0];
            store_put_line(view->store, "standing", "sssiiidid", own->kernel, dtype_name(type),
                           kernel_role_words[own->role], (int64_t)ranked->other_param,
                           (int64_t)recommendable, (int64_t)any->judged, any->error, any->at,
                           own->errors[SCOPE_EXTREME].error);
        }
        free(ranking.kernels);
    }
}

static void prepare_charts(const report_data *data, const char *other, const char *directory,
                           report_state *state)
{
    text_buffer footer = {0};
    report_footer(data->view, &footer);
    for (size_t i = 0; i < chart_count; i++) {
        report_chart *chart = &state->charts[state->chart_count];
        if (!chart_list[i].of_report)
            continue;
        chart_prepare(data->view->store, &chart_list[i], other, footer.bytes, directory, chart);
        /* What another type lacks is not missed. */
        state->chart_count += !chart->reason[0] || !other[0];
    }
    text_free(&footer);
}

/* other: the name of another type than the page's, or "". */
static void prepare_type(report_state *state, const char *other, const char *directory)
{
    report_data *data = &state->data;
    result_store *store = data->view->store;
    store_scratch_begin(store);
    put_asked(data, other);
    put_standings(data->view);
    store_script(store, charts_shown_sql);
    if (!other[0])
        report_data_read(data);
    prepare_charts(data, other, directory, state);
    store_scratch_end(store);
}

static void prepare_report(const run_view *view, const char *directory, report_state *state)
{
    state->data = (report_data){.view = view};
    answer_make(view, &state->data.answer);
    prepare_type(state, "", directory);
    for (ln_type type = LN_F32; type <= LN_F16; type++)
        if (type != state->data.type && has_type(view, type))
            prepare_type(state, dtype_name(type), directory);
}

/* The names of the charts that gnuplot failed on, and what it said of the first. */
static void note_lost(const report_state *state, report_result *result)
{
    text_buffer note = {0};
    const report_chart *first = NULL;
    for (size_t i = 0; i < state->chart_count; i++) {
        const report_chart *chart = &state->charts[i];
        if (!chart->lost)
            continue;
        text_format(&note, "%s%s", first ? ", " : "", chart->stem);
        first = first ? first : chart;
    }
    text_format(&note, ": %s", first->reason);
    snprintf(result->note, sizeof result->note, "%s", note.bytes ? note.bytes : first->reason);
    text_free(&note);
}

static void draw_charts(report_state *state, const char *plots_directory, const char *directory,
                        report_result *result)
{
    size_t wanted = 0;
    for (size_t i = 0; i < state->chart_count; i++)
        wanted += !state->charts[i].reason[0];
    charts_draw(state->charts, state->chart_count, plots_directory, directory);
    const report_chart *missing = NULL;
    for (size_t i = 0; i < state->chart_count; i++) {
        const report_chart *chart = &state->charts[i];
        result->lost |= chart->lost;
        if (!chart->reason[0])
            report_path(result->charts[result->chart_count++], directory, chart->stem, ".svg");
        else if (!missing && strncmp(chart->reason, "gnuplot", 7) == 0)
            missing = chart;
    }
    result->charts_drawn = result->chart_count == wanted;
    if (result->lost)
        note_lost(state, result);
    else if (missing)
        snprintf(result->note, sizeof result->note, "%s", missing->reason);
    else if (wanted == 0)
        snprintf(result->note, sizeof result->note,
                 "the run has neither speeds nor judged rows to draw");
}

static void write_html(const document *page, const char *plots_directory, const char *directory,
                       const char *path)
{
    text_buffer html = {0};
    document_html(page, plots_directory, directory, &html);
    if (page->run)
        page_run_end(&html);
    write_whole_file(path, &html);
    text_free(&html);
}

static void write_markdown(const document *page, const char *path)
{
    text_buffer markdown = {0};
    document_markdown(page, &markdown);
    write_whole_file(path, &markdown);
    text_free(&markdown);
}

static const char *name_generator(char *words, size_t size)
{
    machine_facts here;
    machine_read(&here);
    snprintf(words, size, "lnbench %.20s %.12s%s", machine_fact_value(&here, "lnbench_version"),
             machine_fact_value(&here, "git_commit"),
             strcmp(machine_fact_value(&here, "git_dirty"), "yes") == 0 ? " (changed)" : "");
    machine_free(&here);
    return words;
}

static void write_pages(const report_state *state, const char *plots_directory,
                        const char *directory, const text_buffer *run, report_result *result)
{
    char generator[100];
    const page_contents contents = {&state->data, state->charts, state->chart_count, result->note};
    document page = {0};
    page_make(&contents, &page);
    page.run = run;
    page.generator = name_generator(generator, sizeof generator);
    report_path(result->index_html, directory, "index", ".html");
    report_path(result->markdown, directory, "report", ".md");
    write_html(&page, plots_directory, directory, result->index_html);
    write_markdown(&page, result->markdown);
    document_free(&page);
}

report_result report_write(const run_view *view, const char *plots_directory, const char *directory,
                           const text_buffer *run)
{
    report_state state = {.chart_count = 0};
    report_result result = {.chart_count = 0};
    char data[512];
    report_path(data, directory, "data", "");
    make_directories(data);
    prepare_report(view, directory, &state);
    draw_charts(&state, plots_directory, directory, &result);
    write_pages(&state, plots_directory, directory, run, &result);
    report_data_free(&state.data);
    return result;
}

/* Of one operation. */
static void draw_part(const run_view *view, const char *plots, const char *directory,
                      const text_buffer *run, const output_file *out)
{
    report_result result = report_write(view, plots, directory, run);
    if (result.note[0] && !result.lost)
        output_note("%s", result.note);
    output_aside(out, "report  %s (%zu charts; %s)", result.index_html, result.chart_count,
                 result.markdown);
    if (result.lost)
        die(EXIT_CODE_ENVIRONMENT, "charts are missing: %s", result.note);
}

void draw_report(const run_view *view, const char *directory, const output_file *out)
{
    char plots[1024], folder[1024];
    const unsigned kinds = view_operations(view);
    text_buffer run = {0}, packed = {0};
    path_of_plots(plots, sizeof plots);
    run_file_make(store_path(view->store), view->run.id, PACK_FAST, &packed);
    page_run_add(&run, &packed);
    text_free(&packed);
    for (int kind = 0; kind < OPERATIONS; kind++) {
        if (!(kinds & OPERATION_BIT(kind)))
            continue;
        bool first = !(kinds & (OPERATION_BIT(kind) - 1));
        snprintf(folder, sizeof folder, "%.900s%s%s", directory, first ? "" : "/",
                 first ? "" : operation_name((ln_operation)kind));
        run_view part = view_part(view, (ln_operation)kind);
        draw_part(&part, plots, folder, &run, out);
        view_part_free(&part);
    }
    text_free(&run);
}
