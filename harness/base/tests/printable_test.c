/* Text from outside is cleaned before it is printed: it contains no control sequences of a terminal. */
#include "base/text.h"
#include "base/output.h"
#include "test.h"
#include <stdio.h>

TEST(only_what_prints)
{
    static const char *const pairs[][2] = {
        {"two_pass, \xce\xb5 1e-5", "two_pass, \xce\xb5 1e-5"},
        {"a\033[31mb\007\177c", "a [31mb  c"},
        {"a\tb\nc", "a b c"},
        {"\xc2\x9b"
         "2J",
         " 2J"},                                  /* CSI in one character */
        {"\xff\xc0\xaf\xed\xa0\x80z", "??????z"}, /* never UTF-8, overlong, a surrogate */
        {"cut \xe2\x82", "cut "},
        {"\xe2\x80\xae"
         "a\xe2\x81\xa6"
         "b\xe2\x80\xa8"
         "c",
         " a b c"}, /* right to left, isolated, a line's end */
    };
    for (size_t i = 0; i < sizeof pairs / sizeof pairs[0]; i++) {
        char line[64];
        snprintf(line, sizeof line, "%s", pairs[i][0]);
        text_make_printable(line, "");
        assert_string_equal(line, pairs[i][1]);
    }
}

TEST(each_form_has_its_own_orders)
{
    static const struct {
        text_form form;
        const char *foreign, *written;
    } given[] = {
        {FORM_LINE, "a_b <x>\n\xff", "a_b <x> ?"},
        {FORM_MARKDOWN, "![x](http://y) <b> a_b|@me $x$",
         "!\\[x\\](http\\://y) \\<b\\> a\\_b\\|\\@me \\$x\\$"},
        {FORM_PAGE, "`a` [b](c) **d** <e>", "\\`a\\` \\[b\\](c) \\*\\*d\\*\\* <e>"},
        {FORM_MARKUP, "</a> \"&' ]]>", "&lt;/a&gt; &quot;&amp;&#39; ]]&gt;"},
        {FORM_TSV, "a\tb\\\r\n", "a\\tb\\\\\\r\\n"},
        {FORM_CSV, "a,\"b\"\r\n", "\"a,\"\"b\"\" \n\""},
        {FORM_GNUPLOT, "`date` \"a\" '\\ \xc3\xa9", "?date? ?a? ?? \xc3\xa9"},
        {FORM_GNUPLOT, "]]>", "] ]>"},
        {FORM_GNUPLOT, "", "-"},
        {FORM_GITHUB, "a: 5 %\n::error::x", "a: 5 %25%0A::error::x"},
        {FORM_GITHUB_PROPERTY, "a,b: c", "a%2Cb%3A c"},
    };
    for (size_t i = 0; i < sizeof given / sizeof *given; i++) {
        text_buffer out = {0};
        clean_add(&out, given[i].form, given[i].foreign);
        assert_string_equal(out.bytes, given[i].written);
        text_free(&out);
    }
}

/* The format is trusted and its values are cleaned, except those of "%-s". */
TEST(a_format_cleans_what_it_takes)
{
    text_buffer out = {0};
    clean_format(&out, FORM_MARKDOWN, "## %s|%-s|%5s|%-5s|%.3s|%d %zu %*d %.2f %g %llx %c%%\n",
                 "a_b", "`c`", "d", "e", "f_ghi", -1, (size_t)2, 3, 4, 5.0, 0.5, 255ULL, 'x');
    assert_string_equal(out.bytes, "## a\\_b|`c`|    d|e    |f\\_g|-1 2   4 5.00 0.5 ff x%\n");
    text_free(&out);
}

/* 20 s for the first fifth: 80 s left. If the rest is slower, the time is not known; if it is faster, it falls. */
TEST(the_time_left_never_rises)
{
    progress_bar progress = {.total = 100, .left = 1e9};
    static const double done[] = {20, 21, 30, 60, 100, 120}, now[] = {20, 30, 60, 60, 200, 210},
                        left[] = {80, 0, 0, 40, 0, 0};
    for (size_t i = 0; i < sizeof done / sizeof *done; i++) {
        progress.done = done[i];
        assert_float_equal(progress_left(&progress, now[i]), left[i], 1e-9);
    }
}
