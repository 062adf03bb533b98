/* What the files of run_read share. */
#ifndef LNBENCH_RUN_READ_INTERNAL_H
#define LNBENCH_RUN_READ_INTERNAL_H

#include "exchange/internal.h"
#include "exchange/run_read.h"

/* The tensors of a file, by their numbers. */
typedef struct tensor_file {
    void *bits;
    size_t bytes;
} tensor_file;
typedef struct read_tensors {
    tensor_file *tensors;
    size_t count;
} read_tensors;

/* Where one is in a file. */
typedef struct file_reader {
    const char *path;
    size_t line; /* of JSON Lines; 0: not one of them */
    run_view *view;
    error *error;
    /* Of JSON Lines: how many records the run's own promises (UINT64_MAX: it does not say), and how many
     * there were. */
    uint64_t promised[RECORD_TYPES];
    size_t there[RECORD_TYPES];
    uint64_t hash; /* of all lines so far */
    read_tensors tensors;
} file_reader;

/* "PATH, line 3: " and the words. Always false. */
bool reader_bad(const file_reader *reader, const char *format, ...)
    __attribute__((format(printf, 2, 3)));

/* Whether a file's schema is the present one; an older one is said to be that. */
bool read_schema(const file_reader *reader, const char *schema, const char *present,
                 const char *older);

/* The values of these fields, of the right kinds and in range. */
bool reader_take(const file_reader *reader, json_t *object, const record_field *fields,
                 size_t count, void *into);
/* Of these those that the object has. */
bool reader_take_given(const file_reader *reader, json_t *object, const record_field *fields,
                       size_t count, void *into);
/* The fields that the object's "infinite" names. */
bool reader_take_infinite(const file_reader *reader, json_t *object, const record_field *fields,
                          size_t count, void *into);
/* The number of one of `count` that stand before it. */
bool reader_place(const file_reader *reader, json_t *object, const char *key, size_t count,
                  size_t *place);

/* A case of published JSON, added to the view without its repetitions. */
bool read_case(const file_reader *reader, json_t *object, stored_case **added);
bool read_fact(const file_reader *reader, const char *name, json_t *value);
void read_repetition(stored_case *stored, const timed_repetition *repetition);
/* Records of JSON Lines: a case that was asked for and has no result; bits; the worst row of a case,
 * for which all cases must be there. */
bool read_lost(file_reader *reader, json_t *record);
bool read_tensor(file_reader *reader, json_t *record);
bool read_worst(file_reader *reader, json_t *record);
void read_tensors_free(read_tensors *tensors);

#endif
