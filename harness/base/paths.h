/* Where lnbench's own parts lie: found from the running executable, so that a build tree and an
 * installation both work. */
#ifndef LNBENCH_PATHS_H
#define LNBENCH_PATHS_H

#include "base/error.h"
#include <stddef.h>

/* $LNBENCH_WORKER, else beside lnbench or in ../libexec/lnbench. */
bool path_of_worker(char *path, size_t size, error *err);
bool path_of_library(char *path, size_t size,
                     error *err); /* $LNBENCH_LIBRARY, else ../lib/liblayernorm.so */
/* $LNBENCH_PEERS_DIRECTORY, else ../lib/peers; false where no peers were built. */
bool path_of_peers(char *path, size_t size);
bool path_of_plots(char *path, size_t size,
                   error *err); /* $LNBENCH_PLOTS, else the source's or installed plots/ */
/* $LNBENCH_WORST, else the installed or the source's reference/worst. */
bool path_of_worst(char *path, size_t size, error *err);

/* mkdir -p. */
bool make_directories(const char *path, error *err);
/* The directory of a file, made where it is missing. */
bool make_parent_directory(const char *path, error *err);

#endif
