/* Where lnbench's own parts lie: found from the running executable, so that a build tree and an
 * installation both work. */
#ifndef LNBENCH_PATHS_H
#define LNBENCH_PATHS_H

#include "error.h"
#include <stddef.h>

bool path_of_worker(char *path, size_t size,
                    error *error); /* $LNBENCH_WORKER, else beside lnbench */
bool path_of_library(char *path, size_t size,
                     error *error); /* $LNBENCH_LIBRARY, else ../lib/liblayernorm.so */
/* $LNBENCH_PEERS_DIRECTORY, else ../lib/peers; false where no peers were built. */
bool path_of_peers(char *path, size_t size);
bool path_of_plots(char *path, size_t size,
                   error *error); /* $LNBENCH_PLOTS, else the source's or installed plots/ */

/* mkdir -p. */
bool make_directories(const char *path, error *error);
/* The directory of a file, made where it is missing. */
bool make_parent_directory(const char *path, error *error);

#endif
