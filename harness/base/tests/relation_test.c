/* A small relation is printed in every format. A new column changes two places: the list of columns and the row. */
#include "base/relation.h"
#include "test.h"
#include <math.h>
#include <stdlib.h>

static relation *make_toy(void)
{
    static const relation_column columns[] = {
        COLUMN("kernel", "kernel"),
        {"noise", "floor", .format = "%.2g", .unit = "%", .priority = 1},
        FOR_PEOPLE("fastest"),
        FOR_PROGRAMS("seed"),
        {"GB/s", "gbps", .priority = 2},
        COLUMN("verdict", EACH_MEMBER),
        COLUMN("note", "note"),
    };
    relation *rows = relation_create(COLUMNS(columns));
    relation_row(rows, as_text("a_b"), as_figure(0.0123), as_flag(true), as_count(7),
                 as_figure(NAN), as_json(json_pack("{s:b}", "right", 1), "right"), as_text(NULL));
    relation_row(rows, as_text("c\xff"), as_figure(NAN), as_flag(false),
                 as_format("%016llx", 10ULL), as_figure(60),
                 as_json(json_pack("{s:b}", "right", 0), "wrong"), as_format("%d, x", 1));
    return rows;
}

static void check_printed(relation *rows, json_t *whole, output_format format, size_t width,
                          const char *expected)
{
    char *text = NULL;
    size_t size;
    output_file out = {.format = format, .file = open_memstream(&text, &size), .width = width};
    relation_print_in(rows, whole, "rows", &out);
    fclose(out.file);
    assert_string_equal(text, expected);
    free(text);
}

static void check_toy(output_format format, size_t width, const char *expected)
{
    check_printed(make_toy(), json_pack("{s:s}", "schema", "toy-1"), format, width, expected);
}

TEST(a_relation_has_every_form)
{
    check_toy(OUTPUT_TEXT, 0,
              "kernel  noise  fastest  GB/s  verdict  note\n"
              "a_b     1.2 %  yes         -  right    -\n"
              "c?          -  no       60.0  wrong    1, x\n");
    check_toy(OUTPUT_MARKDOWN, 0,
              "| kernel | noise | fastest | GB/s | verdict | note |\n"
              "| --- | ---: | --- | ---: | --- | --- |\n"
              "| a\\_b | 1.2 % | yes | - | right | - |\n"
              "| c? | - | no | 60.0 | wrong | 1, x |\n");
    check_toy(OUTPUT_TSV, 0,
              "kernel\tnoise\tfastest\tGB/s\tverdict\tnote\na_b\t1.2 %\tyes\t-\tright\t-\n"
              "c?\t-\tno\t60.0\twrong\t1, x\n");
    check_toy(OUTPUT_CSV, 0,
              "kernel,noise,fastest,GB/s,verdict,note\na_b,1.2 %,yes,-,right,-\n"
              "c?,-,no,60.0,wrong,\"1, x\"\n");
    check_toy(OUTPUT_JSON, 0,
              "{\n \"schema\": \"toy-1\",\n \"rows\": [\n  {\n   \"kernel\": \"a_b\",\n"
              "   \"floor\": 0.0123,\n   \"seed\": 7,\n   \"gbps\": null,\n   \"right\": true,\n"
              "   \"note\": null\n  },\n  {\n   \"kernel\": \"c?\",\n"
              "   \"floor\": null,\n   \"seed\": \"000000000000000a\",\n   \"gbps\": 60.0,\n"
              "   \"right\": false,\n   \"note\": \"1, x\"\n  }\n ]\n}\n");
}

TEST(a_heading_is_printable)
{
    const relation_column columns[] = {FOR_PEOPLE("a\033[31m\xc3")}; /* a cut character */
    relation *rows = relation_create(COLUMNS(columns));
    relation_row(rows, as_count(1));
    check_printed(rows, NULL, OUTPUT_TEXT, 0, "a [31m\n     1\n");
}

TEST(further_rows_of_a_table_have_no_headings)
{
    relation *rows = make_toy();
    relation_go_on(rows);
    check_printed(rows, NULL, OUTPUT_TSV, 0,
                  "a_b\t1.2 %\tyes\t-\tright\t-\nc?\t-\tno\t60.0\twrong\t1, x\n");
}

TEST(a_narrow_terminal_has_fewer_columns)
{
    check_toy(OUTPUT_TEXT, 40,
              "kernel  noise  fastest  verdict  note\n"
              "a_b     1.2 %  yes      right    -\n"
              "c?          -  no       wrong    1, x\n");
    check_toy(OUTPUT_TEXT, 30,
              "kernel  fastest  verdict  note\n"
              "a_b     yes      right    -\n"
              "c?      no       wrong    1, x\n");
}

/* Cells contain no control sequences of a terminal. */
TEST(cells_give_no_orders)
{
    static const char *const cells[][3] = {{"=1+2", "=1+2", "=1+2"},
                                           {"x\033]0;a\007, b", "x ]0;a , b", "\"x ]0;a , b\""}};
    static const relation_column columns[] = {COLUMN("a", "a")};
    for (size_t i = 0; i < sizeof cells / sizeof *cells; i++)
        for (int commas = 0; commas < 2; commas++) {
            char expected[64];
            relation *rows = relation_create(COLUMNS(columns));
            relation_row(rows, as_text(cells[i][0]));
            snprintf(expected, sizeof expected, "a\n%s\n", cells[i][1 + commas]);
            check_printed(rows, NULL, commas ? OUTPUT_CSV : OUTPUT_TSV, 0, expected);
        }
}

TEST(columns_of_one_word_are_left_out)
{
    relation *rows = make_toy();
    relation_hide_alike(rows, 0);
    assert_true(relation_shows(rows, 0));
    relation_destroy(rows);
    static const relation_column columns[] = {COLUMN("a", "a"), COLUMN("b", "b")};
    rows = relation_create(COLUMNS(columns));
    relation_row(rows, as_count(1), as_count(2), as_count(1), as_count(3));
    relation_hide_alike(rows, 0);
    relation_hide_alike(rows, 1);
    check_printed(rows, NULL, OUTPUT_TSV, 0, "b\n2\n3\n");
}
