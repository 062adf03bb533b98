/* Calibrations in the store. */
#ifndef LNBENCH_STORE_CALIBRATION_H
#define LNBENCH_STORE_CALIBRATION_H

#include "domain/calibration.h"
#include "store/store.h"

/* What makes two runs runs of one machine: processor, caches, cores, hypervisor. A virtual machine
 * that moves to another host of the same kind stays the same machine. */
void machine_identity(const machine_facts *machine, char identity[CALIBRATION_MACHINE_LENGTH]);

/* Stored whole, with the time of now; calibration->id and made are filled in. */
bool store_put_calibration(result_store *store, const machine_facts *machine,
                           noise_calibration *calibration, error *err);
/* The latest of this machine; id 0 where there is none. */
bool store_calibration(result_store *store, const machine_facts *machine,
                       noise_calibration *calibration, error *err);
/* The same from a file; no file is no calibration, and no error. */
bool load_calibration(const char *database, const machine_facts *machine,
                      noise_calibration *calibration, error *err);

#endif
