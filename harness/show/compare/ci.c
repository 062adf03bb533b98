/* A comparison for CI: a check for each pair and for what is known of no pair. */
#include "show/compare/comparison.h"

/* A pair that is no failure but no answer either is an error in JUnit's sense. */
static void add_pair_check(relation *checks, const run_comparison *comparison,
                           const comparison_pair *pair)
{
    exit_code code = pair_exit_code(pair, &comparison->settings);
    bool fine = code == EXIT_CODE_FINE;
    bool failure = code == EXIT_CODE_REGRESSION || code == EXIT_CODE_ACCURACY;
    text_buffer summary = {0}, name = {0};
    add_pair_summary(&summary, comparison, pair);
    add_pair_name(&name, &pair->key);
    relation_row(checks, as_text(comparison->settings.tool), as_text(name.bytes),
                 as_format("%.3f", pair->seconds),
                 as_text(fine      ? ""
                         : failure ? "failure"
                                   : "error"),
                 as_text(outcome_name(code)), as_text(summary.bytes), as_text(summary.bytes),
                 as_text(fine                             ? ""
                         : code == EXIT_CODE_INCONCLUSIVE ? "warning"
                                                          : "error"),
                 as_format("%s: %s", outcome_name(code), name.bytes));
    text_free(&summary);
    text_free(&name);
}

/* Cases that stand apart fail where they are lost and may not be. */
static void add_apart_check(relation *checks, const run_comparison *comparison,
                            const apart_cases *apart)
{
    bool lost = apart->kind == APART_LOST, fails = lost && !comparison->settings.allow_missing;
    text_buffer line = {0};
    add_apart(&line, apart);
    relation_row(checks, as_text(comparison->settings.tool), as_text(line.bytes), as_text(""),
                 as_text(fails ? "error" : "skipped"), as_text("not comparable"),
                 as_text(line.bytes), as_text(""), as_text(fails ? "error" : "notice"),
                 as_text(lost ? "missing" : "not compared"));
    text_free(&line);
}

/* A context that differs. */
static void add_difference_check(relation *checks, const run_comparison *comparison, size_t i)
{
    relation_row(checks, as_text(comparison->settings.tool), as_format("context %zu", i + 1),
                 as_text(""), as_text("error"), as_text("not comparable"),
                 as_text(comparison->differences.words[i]), as_text(""), as_text("error"),
                 as_text("not comparable"));
}

/* What all come to, which is an annotation and no test. */
static void add_conclusion_check(relation *checks, const run_comparison *comparison)
{
    text_buffer conclusion = {0};
    add_conclusion(&conclusion, comparison);
    relation_row(checks, as_text(comparison->settings.tool), as_text(""), as_text(""), as_text(""),
                 as_text(""), as_text(conclusion.bytes), as_text(""), as_text("notice"),
                 as_format("lnbench %s", comparison->settings.tool));
    text_free(&conclusion);
}

relation *comparison_checks(const run_comparison *comparison, bool concluded)
{
    static const relation_column columns[] = {
        COLUMN("classname", "classname"), COLUMN("name", "name"),   COLUMN("time", "time"),
        COLUMN("outcome", "outcome"),     COLUMN("type", "type"),   COLUMN("message", "message"),
        COLUMN("output", "output"),       COLUMN("level", "level"), COLUMN("title", "title"),
    };
    relation *checks = relation_create(COLUMNS(columns));
    for (size_t i = 0; i < comparison->pair_count; i++)
        add_pair_check(checks, comparison, &comparison->pairs[i]);
    for (size_t i = 0; i < comparison->differences.count; i++)
        add_difference_check(checks, comparison, i);
    for (size_t i = 0; i < comparison->apart_count; i++)
        add_apart_check(checks, comparison, &comparison->apart[i]);
    if (concluded)
        add_conclusion_check(checks, comparison);
    return checks;
}
