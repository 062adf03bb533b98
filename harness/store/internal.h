/* What the files of the store share: the connection, its statements, its errors. Nobody else
 * includes this, but for the store's tests. */
#ifndef LNBENCH_STORE_INTERNAL_H
#define LNBENCH_STORE_INTERNAL_H

#include "store/records.h"
#include "store/store.h"
#include <sqlite3.h>
#include <stdarg.h>

enum {
    STORE_BUSY_MS = 10000,
    STORE_TEXT_MOST = 1 << 20, /* bytes of a stored text */
    ANY_PROCESS = -1,
    STORE_LENGTH_MOST = 16 << 20, /* of a whole row, as SQLite counts: tensors has rows of 1 MiB */
};

typedef enum statement_kind {
#define STATEMENT(NAME, ...) STATEMENT_##NAME,
#define MADE_STATEMENT STATEMENT
#include "store/statements.def"
#undef STATEMENT
#undef MADE_STATEMENT
    STATEMENT_COUNT,
} statement_kind;

struct result_store {
    sqlite3 *database;
    char *path;
    sqlite3_stmt *statements[STATEMENT_COUNT]; /* prepared at first use, kept until the close */
    /* The case written last: measurements of one case come in a row. */
    case_key last_key;
    int64_t last_run, last_case; /* 0: none */
    machine_facts machine;       /* of the run `machine_run`, which regimes of cells follow from */
    int64_t machine_run;         /* 0: none */
    bool together;               /* one transaction around what follows: see store_together() */
};

/* One line for what SQLite says, after "PATH: cannot DOING: ". */
_Noreturn void store_die(const result_store *store, int status, const char *doing);
/* That, unless the status is SQLITE_OK. */
void store_check(const result_store *store, int status, const char *doing);
/* Runs statements that give no rows. */
void store_execute(const result_store *store, const char *sql, const char *doing);

/* The statement, reset and with nothing bound. */
sqlite3_stmt *store_statement(result_store *store, statement_kind kind);

/* The same with its parameters bound, a letter of `types` each from the first on: i an int64_t, s a
 * string (NULL is ""), d a double (NaN is stored as NULL). */
sqlite3_stmt *store_bound(result_store *store, statement_kind kind, const char *types, ...);
/* The same, run: for statements that give no rows. */
void store_do(result_store *store, statement_kind kind, const char *doing, const char *types, ...);
/* More of them, from parameter `place` on. */
void store_bind(sqlite3_stmt *statement, int place, const char *types, ...);
void store_bind_list(sqlite3_stmt *statement, int place, const char *types, va_list values);

/* A transaction of its own, unless one is open around it. What ends the program in between undoes it. */
void store_begin(result_store *store, const char *doing);
void store_finish(result_store *store, const char *doing);

/* Runs a statement that gives no rows. */
void store_step(result_store *store, sqlite3_stmt *statement, const char *doing);
/* Moves to the next row; false: there is none, and the statement is reset. A row with a text of more than
 * STORE_TEXT_MOST ends the program. */
bool store_next(const result_store *store, sqlite3_stmt *statement);

/* A figure; NULL is how an undefined one is stored: NaN. */
double store_real(sqlite3_stmt *statement, int column);
/* The text of a column, as much of it as the buffer takes; NULL is "". */
void store_copy_text(sqlite3_stmt *statement, int column, char *buffer, size_t size);

/* The columns of these names, in fields; one that has no column is left alone. A word that is none of the
 * field's ends the program. */
void store_take(const result_store *store, sqlite3_stmt *statement, const record_field *fields,
                size_t count, void *into);
/* The same, looking from column `first` on before those that stand before it. */
void store_take_from(const result_store *store, sqlite3_stmt *statement, int first,
                     const record_field *fields, size_t count, void *into);
/* The same for a case's key; a name that was cut off could be another's, and ends the program. */
void store_take_key(const result_store *store, sqlite3_stmt *statement, case_key *key);
/* The column of a name; -1: there is none. */
int store_column(sqlite3_stmt *statement, const char *name);
/* The fields as parameters, from `place` on. */
void store_bind_record(sqlite3_stmt *statement, int place, const record_field *fields, size_t count,
                       const void *from);

/* What a row becomes; `further`, if there is one, takes what no field says. */
typedef struct row_form {
    size_t size;
    const record_field *fields;
    size_t count;
    void (*further)(const result_store *store, sqlite3_stmt *statement, void *row);
} row_form;
/* All rows of a statement, and how many there are. list: of a pointer to them, which is free()d; NULL where
 * there are none. */
size_t store_list(result_store *store, sqlite3_stmt *statement, const row_form *form, void *list);

/* Columns of a case's key by the names of its fields, in their order. */
#define KEY_COLUMNS                                                                                \
    "kernel, convention, rows, hidden, types AS dtype, "                                           \
    "(SELECT name FROM inputs WHERE id = input_id) AS input, cache, threads, operation"

/* The statement with a case: parameter 1 is the run, 2 to 10 are its key. */
sqlite3_stmt *store_keyed(result_store *store, statement_kind kind, int64_t run,
                          const case_key *key);
/* The number that a statement gives; 0 for NULL and for no row. */
int64_t store_number(result_store *store, sqlite3_stmt *statement);

/* Facts of a case, and of its speed (facts.c): where it was judged; of all cases that a process timed
 * (-1: any). */
void store_put_judgement(result_store *store, int64_t id, const stored_case *stored);
void store_put_timings(result_store *store, int64_t run, int64_t process);

/* SQL text made from the list of metrics; free() them. */
char *store_put_accuracy_sql(void);

/* Whether it is fresh, or lacks a metric. Ends the program where it is not ours or of another format. */
bool store_is_outdated(const result_store *store, store_mode mode);
/* Makes the views of views.sql for this connection, which reads no others. */
void store_use_views(const result_store *store);
/* A URI by which a file can be attached and nothing is made beside it; free() it. */
char *store_uri(const char *path);
/* The functions that scripts have (script.h). */
void store_add_functions(const result_store *store);
/* What is outdated gets what it lacks. */
void store_upgrade(const result_store *store);

#endif
