/* What standard output is: how wide, and whether it shows colour. */
#ifndef LNBENCH_TERMINAL_H
#define LNBENCH_TERMINAL_H

#include <stdbool.h>
#include <stddef.h>
#include <stdio.h>

/* Columns of the terminal that the file is, by COLUMNS where it is set to a number, else as the
 * terminal says. 0: no terminal, or it does not say. */
size_t terminal_width(FILE *file);
/* The same for text that is laid out to fit; 100 where there is no terminal. */
size_t terminal_room(FILE *file);

/* Whether the file is a terminal that shows colour: never where NO_COLOR is set to anything
 * (no-color.org) or TERM is "dumb". */
bool terminal_has_colour(FILE *file);

#endif
