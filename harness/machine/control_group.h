/* The control group that this process is in, v1 or v2. A limit is the least of its own group's and
 * those of all groups above it that can be seen from here. */
#ifndef LNBENCH_CONTROL_GROUP_H
#define LNBENCH_CONTROL_GROUP_H

/* Bytes of memory; 0: no limit; -1: not known. */
double control_group_memory(void);

/* How many processes of the group the system has ended so far because memory ran out; -1: not
 * known. */
long control_group_oom_kills(void);

#endif
