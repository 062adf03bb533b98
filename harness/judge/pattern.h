/* Which of a row's columns, or of a block's rows, are wrong: in words.
 *
 *     bool wrong[13] = {[8] = true, [9] = true, [10] = true, [11] = true, [12] = true};
 *     char words[PATTERN_LENGTH];
 *     pattern_words(wrong, 13, "column", words);   // "the last 5 of 13 columns (13 mod 8)"
 */
#ifndef LNBENCH_PATTERN_H
#define LNBENCH_PATTERN_H

#include <stdbool.h>
#include <stddef.h>

enum { PATTERN_LENGTH = 80 };

/* "all 13 columns", "the last 5 of 13 columns (13 mod 8)", "the first 2 of 13 columns", "column 3 of 13 alone",
 * "columns 8 to 15 of 64", "every 8th of 64 columns, from column 5 on". One at least is wrong; `noun` is
 * "column" or "row". False: there is no such pattern, "7 of 64 columns, from column 3 on". */
bool pattern_words(const bool *wrong, size_t count, const char *noun, char words[PATTERN_LENGTH]);
/* Of the last `tail` of `count` alone, with the loop steps that leave so many over. */
const char *pattern_tail(size_t tail, size_t count, const char *noun, char words[PATTERN_LENGTH]);

#endif
