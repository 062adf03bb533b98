/* What standard output is: how wide, and whether it shows colour. */
#ifndef LNBENCH_TERMINAL_H
#define LNBENCH_TERMINAL_H

#include <stdbool.h>
#include <stddef.h>
#include <stdio.h>

/* Columns of the terminal that the file is, by COLUMNS where it is set to a number from 1, else as
 * the terminal says; at least 20, in which any table can be read. 0: no terminal, or it does not say. */
size_t terminal_width(FILE *file);

/* Whether the file is a terminal that shows colour: never where NO_COLOR is set to anything
 * (no-color.org) or TERM is "dumb". */
bool terminal_has_colour(FILE *file);

#endif
