/* Text from outside on its way out: nothing a terminal obeys, nothing a spreadsheet computes. */
#include "base/table.h"
#include "base/text.h"
#include "test.h"
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static void only_what_prints(void **state)
{
    (void)state;
    static const char *const pairs[][2] = {
        {"two_pass, \xce\xb5 1e-5", "two_pass, \xce\xb5 1e-5"},
        {"a\033[31mb\007\177c", "a [31mb  c"},
        {"a\tb\nc", "a b c"},
        {"\xc2\x9b"
         "2J",
         " 2J"},                                  /* CSI in one character */
        {"\xff\xc0\xaf\xed\xa0\x80z", "??????z"}, /* never UTF-8, overlong, a surrogate */
        {"cut \xe2\x82", "cut ??"},
    };
    for (size_t i = 0; i < sizeof pairs / sizeof pairs[0]; i++) {
        char line[64];
        snprintf(line, sizeof line, "%s", pairs[i][0]);
        text_make_printable(line, "");
        assert_string_equal(line, pairs[i][1]);
    }
}

/* The table of these cells as text, TSV or CSV. */
static char *printed(const char *const *cells, size_t count, int how)
{
    static const char *const headings[] = {"a", "b"};
    char *text = NULL;
    size_t size;
    text_table *table = table_create(headings, 2);
    FILE *file = open_memstream(&text, &size);
    for (size_t i = 0; i < count; i++)
        table_cell(table, cells[i]);
    assert_true(how == 0 ? table_print_within(table, 0, file)
                         : table_print_data(table, how == 2, file));
    fclose(file);
    table_destroy(table);
    return text;
}

static void tables_give_no_orders(void **state)
{
    (void)state;
    const char *const cells[] = {
        "=1+2", "+sum", "@x", "-", "-1.5", "-1.5e-3", "-x", "+4 %", "x\033]0;title\007", "plain"};
    char *text = printed(cells, 10, 0), *tsv = printed(cells, 10, 1), *csv = printed(cells, 10, 2);
    assert_null(strchr(text, '\033'));
    assert_string_equal(tsv, "a\tb\n'=1+2\t'+sum\n'@x\t-\n-1.5\t-1.5e-3\n'-x\t'+4 %\n"
                             "x ]0;title \tplain\n");
    assert_string_equal(csv, "a,b\n'=1+2,'+sum\n'@x,-\n-1.5,-1.5e-3\n'-x,'+4 %\n"
                             "x ]0;title ,plain\n");
    free(text);
    free(tsv);
    free(csv);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(only_what_prints),
        cmocka_unit_test(tables_give_no_orders),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
