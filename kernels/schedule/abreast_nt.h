/* abreast_nt: abreast, with y stored around the caches (stream.h) where all its rows begin a line,
 * and x fetched 8 KiB before it is swept. */
#define LN_NONTEMPORAL
#define FETCH_BYTES 8192
#include "schedule/abreast.h"
