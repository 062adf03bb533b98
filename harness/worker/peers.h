/* The peers: other libraries' kernels, plugins that are built where their library is found and
 * loaded by default, so that they stand in every table beside ours. */
#ifndef LNBENCH_PEERS_H
#define LNBENCH_PEERS_H

#include "base/words.h"

/* Adds the paths of those that were built or installed with lnbench and are none of the plugins, in the order
 * of their names; none where LNBENCH_PEERS is 0. Errors: out of memory. */
bool peers_find(word_list *paths, const char *const *plugins, size_t count, error *err);

#endif
