/* fused_nt: fused, with y stored around the caches (stream.h), and in groups of at most 2 KiB: a
 * short row's latencies have to be hidden, but memory should not wait for more than that to be read
 * before it is written to again (at hidden 256, groups of 8 rows are a tenth slower than single
 * rows). */
#define LN_NONTEMPORAL
#define LN_GROUP_BYTES 2048
#include "schedule/fused.h"
