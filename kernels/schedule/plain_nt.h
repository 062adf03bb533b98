/* plain_nt: plain, with y stored around the caches (stream.h). */
#define LN_NONTEMPORAL
#include "schedule/plain.h"
