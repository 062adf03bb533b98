/* What the files of run_read share. */
#ifndef LNBENCH_RUN_READ_INTERNAL_H
#define LNBENCH_RUN_READ_INTERNAL_H

#include "exchange/run_read.h"

/* Where one is in a file. */
typedef struct file_reader {
    const char *path;
    size_t line; /* of JSON Lines; 0: not one of them */
    run_view *view;
    error *error;
} file_reader;

/* "PATH, line 3: " and the words. Always false. */
bool reader_bad(const file_reader *reader, const char *format, ...)
    __attribute__((format(printf, 2, 3)));

/* Whether a file's schema is the present one; an older one is said to be that. */
bool read_schema(const file_reader *reader, const char *schema, const char *present,
                 const char *older);

/* The value of a key, of the right kind and in range. What is null or absent is an error, but for
 * reals: those are then NaN. */
bool read_string(const file_reader *reader, json_t *object, const char *key, char *buffer,
                 size_t size);
bool read_count(const file_reader *reader, json_t *object, const char *key, uint64_t most,
                uint64_t *count);
bool read_real(const file_reader *reader, json_t *object, const char *key, double *value);
bool read_flag(const file_reader *reader, json_t *object, const char *key, bool *flag);

/* A case of published JSON, added to the view without its repetitions. */
bool read_case(const file_reader *reader, json_t *object, stored_case **added);
/* A case that was asked for and has no result. */
bool read_lost(const file_reader *reader, json_t *object);
bool read_fact(const file_reader *reader, const char *name, json_t *value);
void read_repetition(stored_case *stored, const timed_repetition *repetition);

/* In place, and of the same length: what is only in Google Benchmark's own JSON becomes JSON.
 * bytes[size] is 0. */
void relax_benchmark(char *bytes, size_t size);
/* A document with "context" and "benchmarks"; process: of what is Google Benchmark's own. */
bool read_benchmark(const file_reader *reader, json_t *document, unsigned process);

/* The tensors of a file, by their numbers. */
typedef struct tensor_file {
    void *bits;
    size_t bytes;
} tensor_file;
typedef struct read_tensors {
    tensor_file *tensors;
    size_t count;
} read_tensors;
bool read_tensor(const file_reader *reader, json_t *record, read_tensors *tensors);
/* The worst row of a case, for which all cases must be there. */
bool read_worst(const file_reader *reader, json_t *record, const read_tensors *tensors);
void read_tensors_free(read_tensors *tensors);

#endif
