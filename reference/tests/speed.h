/* How fast the certified reference is. */
#ifndef SPEED_H
#define SPEED_H

#include <stdbool.h>

enum { SPEED_MOST_THREADS = 64 };

/* Prints certified elements per processor second of each type at hidden 768. False when memory runs
 * out. */
bool speed_print(void);

/* Prints how the work of this many threads, a workspace each, compares with that of one: the median
 * over runs that alternate. False when memory or threads run out. */
bool speed_print_threads(unsigned threads);

#endif
