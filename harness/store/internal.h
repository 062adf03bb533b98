/* Shared by the files of the store: the connection, its statements, and reading rows into structs. Only the store and
 * tests include it.
 *
 *     static const record_field fields[] = {FIELD(TEXT, machine_fact, name), FIELD(TEXT, machine_fact, value)};
 *     sqlite3_stmt *statement = store_bound(store, "SELECT name, value FROM facts WHERE run = ?1", "i", run);
 *     size_t count = store_list(store, statement, sizeof *facts, FIELDS(fields), &facts);
 *
 * The texts of statements must be string literals or stay in place, since a statement is found by the address of its
 * text. Errors end the program. */
#ifndef LNBENCH_STORE_INTERNAL_H
#define LNBENCH_STORE_INTERNAL_H

#include "store/store.h"
#include <sqlite3.h>
#include <stdarg.h>

enum {
    STORE_BUSY_MS = 10000,
    STORE_LENGTH_MOST = 16 << 20, /* of a whole row, as SQLite counts */
};
#define STORE_IS_DAMAGED                                                                           \
    "the database is damaged (%s): save what can be saved with 'sqlite3 %s .recover', or name "    \
    "another file with --db"

typedef struct known_statement {
    const char *sql;
    sqlite3_stmt *prepared; /* kept until the close */
} known_statement;

struct result_store {
    sqlite3 *database;
    char *path;
    known_statement *statements;
    size_t statement_count;
    sqlite3_stmt *pairs; /* of store_pairs_begin() */
    /* The last written case, since successive measurements often belong to the same case. */
    case_key last_key;
    int64_t last_run, last_case; /* 0: none */
    bool is_new;                 /* the file did not exist before */
    bool is_refused;             /* nothing was stored in it: closing removes the file */
    bool together;               /* a transaction is open: see store_together() */
};

/* ---- statements ---- */

/* Ends the program with a line for an error of SQLite. */
_Noreturn void store_die(const result_store *store, int status);
/* Does the same, unless the status is SQLITE_OK. */
void store_check(const result_store *store, int status);
/* Prepares a statement for a single use. The caller calls sqlite3_finalize(). */
sqlite3_stmt *store_prepare(const result_store *store, const char *sql);
/* Returns the statement with its parameters bound, one letter of `types` each: i an int64_t, s a string (NULL is ""), n
 * a string (NULL and "" are NULL), d a double (NaN is stored as NULL). */
sqlite3_stmt *store_bound(result_store *store, const char *sql, const char *types, ...);
/* Bind a statement and run it: store_do() if it has no rows, store_number() to return the number in its first row. */
#define store_do(store, ...) store_step(store, store_bound(store, __VA_ARGS__))
#define store_number(store, ...) store_number_of(store, store_bound(store, __VA_ARGS__))
/* Returns the statement with the run bound to parameter 1 and the key of a case to 2 to 10. */
sqlite3_stmt *store_keyed(result_store *store, const char *sql, int64_t run, const case_key *key);
/* Binds more parameters, starting at number `place`. */
void store_bind(sqlite3_stmt *statement, int place, const char *types, ...);
void store_bind_list(sqlite3_stmt *statement, int place, const char *types, va_list values);
/* Runs a statement without rows. */
void store_step(const result_store *store, sqlite3_stmt *statement);
/* Moves to the next row. Returns false if there is none, and resets the statement. */
bool store_next(const result_store *store, sqlite3_stmt *statement);
/* Returns the number in the first row; 0 for NULL and without a row. Resets the statement. */
int64_t store_number_of(const result_store *store, sqlite3_stmt *statement);
/* Returns a figure; NaN for NULL, which undefined figures are stored as. */
double store_real(sqlite3_stmt *statement, int column);
/* Returns a text; "" for NULL. */
const char *store_text(sqlite3_stmt *statement, int column);

/* ---- rows as structs ---- */

typedef enum field_kind {
    FIELD_TEXT, /* char[most + 1]; a longer one is cut off */
    FIELD_NAME, /* the same, but a longer one ends the program, since a cut name may be another's */
    FIELD_UNSIGNED, /* unsigned */
    FIELD_COUNT,    /* size_t or uint64_t */
    FIELD_FLAG,     /* bool */
    FIELD_REAL,     /* double; NULL: undefined */
    FIELD_WORD,     /* an enum from 0 to most by its words; an unknown word ends the program */
} field_kind;

/* The name of a column, and the struct member that receives it. */
typedef struct record_field {
    const char *key;
    field_kind kind;
    size_t offset, most; /* most: bytes of a text, the last of the words */
    const char *const *words;
} record_field;

/* The column `name` for the member `place` of a struct, and a column with the name of the member. */
#define FIELD_AT(kind, type, name, place)                                                          \
    {                                                                                              \
        name, FIELD_##kind, offsetof(type, place), sizeof(((type *)0)->place) - 1, NULL            \
    }
#define WORD_FIELD_AT(type, name, place, words)                                                    \
    {                                                                                              \
        name, FIELD_WORD, offsetof(type, place), sizeof(words) / sizeof *(words)-1, words          \
    }
#define FIELD(kind, type, field) FIELD_AT(kind, type, #field, field)
#define WORD_FIELD(type, field, words) WORD_FIELD_AT(type, #field, field, words)
#define FIELDS(table) (table), sizeof(table) / sizeof *(table)

/* The fields of a case's key in the member `place` of a struct, and its columns. */
#define KEY_FIELDS_AT(type, place)                                                                 \
    FIELD_AT(NAME, type, "kernel", place kernel),                                                  \
        FIELD_AT(NAME, type, "convention", place convention),                                      \
        FIELD_AT(COUNT, type, "rows", place rows), FIELD_AT(COUNT, type, "hidden", place hidden),  \
        WORD_FIELD_AT(type, "dtype", place dtype, dtype_names),                                    \
        FIELD_AT(NAME, type, "input", place input),                                                \
        WORD_FIELD_AT(type, "cache", place cache, cache_names),                                    \
        FIELD_AT(UNSIGNED, type, "threads", place threads),                                        \
        WORD_FIELD_AT(type, "operation", place operation, operation_names)
#define KEY_COLUMNS                                                                                \
    "kernel, convention, rows, hidden, types AS dtype, "                                           \
    "(SELECT name FROM inputs WHERE id = input_id) AS input, cache, threads, operation"
extern const char *const operation_names[OPERATIONS];

/* Reads the columns that have the names of the fields into them; fields without a column stay unchanged. */
void store_take(const result_store *store, sqlite3_stmt *statement, const record_field *fields,
                size_t count, void *into);
/* Reads all rows of a statement into an array of structs, and returns their number. list: the address of a pointer to
 * the array, which the caller frees; NULL if there are no rows. */
size_t store_list(const result_store *store, sqlite3_stmt *statement, size_t size,
                  const record_field *fields, size_t field_count, void *list);
/* Binds the fields as parameters, starting at number `place`. */
void store_bind_record(sqlite3_stmt *statement, int place, const record_field *fields, size_t count,
                       const void *from);

/* ---- other functions ---- */

/* Begin and finish a transaction, unless one is open already. If the program ends in between, it is rolled back. */
void store_begin(result_store *store);
void store_finish(result_store *store);
/* Stores the verdict of a case. */
void store_put_judgement(result_store *store, int64_t id, const stored_case *stored);
/* Returns a URI to attach a file without creating other files next to it. The caller frees it. */
char *store_uri(const char *path);
/* Adds the SQL functions for scripts. */
void store_add_functions(const result_store *store);

#endif
